// Actions on an object. None are drawn unless the server offers them.

export function actionBar() {
  return null;
}
