/**
 * Loads the handlers of the functions with the first request. They are cached, because importing a loaded module again takes
 * a tenth of the processor time of a small request.
 */

let loadedHttp: Promise<typeof import('../http-handlers.ts')> | undefined;
let loadedBackground: Promise<typeof import('../background-handlers.ts')> | undefined;

export function httpHandlers(): Promise<typeof import('../http-handlers.ts')> {
  loadedHttp ??= import('../http-handlers.ts');
  return loadedHttp;
}

export function backgroundHandlers(): Promise<typeof import('../background-handlers.ts')> {
  loadedBackground ??= import('../background-handlers.ts');
  return loadedBackground;
}
