/**
 * The handlers of the functions, which the first request loads. Kept, because an import resolves and looks up a loaded module anew each
 * time: a tenth of the processor time of a small request.
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
