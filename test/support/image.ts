/** Content of an installation in memory, to detect writes. */
import type { Installation } from '../../packages/cairn/src/testing/world/installation.ts';

/** The document or task at each path. It is the same object if it was not written. */
export type Image = ReadonlyMap<string, unknown>;

export function imageOf({ db, queue }: Pick<Installation, 'db' | 'queue'>): Image {
  const image = new Map<string, unknown>();
  for (const [name, held] of Object.entries(db)) place(image, name, held);
  for (const { id } of queue.pending) image.set(`tasks/${id}`, true);
  return image;
}

/** Frozen values are replaced when they change; others are inspected. */
function place(image: Map<string, unknown>, at: string, held: unknown): void {
  if (held instanceof Map || (Array.isArray(held) && !Object.isFrozen(held)))
    for (const [key, value] of held.entries()) place(image, `${at}/${key}`, value);
  else if (isRun(held)) for (const [key, value] of Object.entries(held)) place(image, `${at}/${key}`, value);
  else image.set(at, held);
}

function isRun(held: unknown): held is object {
  return typeof held === 'object' && held !== null && 'snapshot' in held && !Object.isFrozen(held);
}

/** The paths at which two images differ. */
export function changed(before: Image, after: Image): readonly string[] {
  const places: string[] = [];
  for (const [place, value] of after)
    if (before.get(place) !== value || !before.has(place)) places.push(place);
  for (const place of before.keys()) if (!after.has(place)) places.push(place);
  return places;
}
