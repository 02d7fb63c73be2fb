// The login: a token of the reader's own. Without a login, how to open the page.

import { h } from "../dom.js";
import { call, session } from "../session.js";

export function login(message, done) {
  const error = h("p", { class: "error", role: "alert" }, message);
  const token = h("textarea", { id: "token", rows: "4", required: true, autocomplete: "off", spellcheck: "false" });
  const namespaces = h("input", { id: "namespaces", autocomplete: "off", spellcheck: "false" });
  const submit = async (event) => {
    event.preventDefault();
    error.textContent = "";
    try {
      session.data = await call("POST", "/api/login", { token: token.value, namespaces: namespaces.value });
      token.value = "";
      done();
    } catch (failure) {
      error.textContent = failure.message;
      token.focus();
    }
  };
  return h("form", { class: "card login", onsubmit: submit },
    h("h1", { tabindex: "-1" }, "Log in"),
    h("p", {}, "The page shows and does what your own rights allow. It needs a token of yours:"),
    h("p", {}, h("code", {}, "kubectl create token NAME -n NAMESPACE")),
    h("label", { for: "token" }, "Token"), token,
    h("label", { for: "namespaces" }, "Namespaces, if you may not read all"), namespaces,
    error, h("p", {}, h("button", { class: "main", type: "submit" }, "Log in")));
}

export function closed(message) {
  return h("div", { class: "card login" }, h("h1", { tabindex: "-1" }, "This page is not open yet"), h("p", {}, message));
}
