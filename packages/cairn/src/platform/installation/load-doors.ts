/** The handlers of the functions, which the first request loads. */

let loaded: Promise<typeof import('../doors.ts')> | undefined;

/** Kept, because an import resolves and looks up a loaded module anew each time: a tenth of the processor time of a small request. */
export function doors(): Promise<typeof import('../doors.ts')> {
  loaded ??= import('../doors.ts');
  return loaded;
}
