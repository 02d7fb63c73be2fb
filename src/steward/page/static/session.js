// The session of the reader, and requests to the server.

// `onEnded` is called when the server no longer accepts the session.
export const session = { data: null, onEnded: () => {} };

export class RequestError extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

export async function call(method, path, body) {
  const headers = {};
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (session.data) headers["X-Steward-Csrf"] = session.data.csrfToken;
  let response;
  try {
    response = await fetch(path, { method, headers, body: body === undefined ? undefined : JSON.stringify(body), credentials: "same-origin" });
  } catch {
    throw new RequestError(0, "The server of the page does not answer.");
  }
  const answer = await response.json().catch(() => ({}));
  if (response.status === 401 && session.data) session.onEnded(answer.message ?? "");
  if (!response.ok) throw new RequestError(response.status, answer.message ?? response.statusText);
  return answer;
}

export async function readSession() {
  session.data = await call("GET", "/api/session");
  return session.data;
}
