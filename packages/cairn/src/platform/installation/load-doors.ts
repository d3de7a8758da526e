/**
 * The handlers of the functions, which the first request loads. Kept, because an import resolves and looks up a loaded module anew each
 * time: a tenth of the processor time of a small request.
 */

let loadedDoors: Promise<typeof import('../doors.ts')> | undefined;
let loadedWork: Promise<typeof import('../work.ts')> | undefined;

export function doors(): Promise<typeof import('../doors.ts')> {
  loadedDoors ??= import('../doors.ts');
  return loadedDoors;
}

export function work(): Promise<typeof import('../work.ts')> {
  loadedWork ??= import('../work.ts');
  return loadedWork;
}
