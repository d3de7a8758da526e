/** Update masks, and reading JSON whose shape is not known. */
import type { Fields, Json } from './model.ts';

const isFields = (value: Json | undefined): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const fieldsOf = (value: Json | undefined): Fields => (isFields(value) ? value : {});

/** `change` put into `target` at the paths that the update mask names; a path that `change` lacks is deleted, as Google does. */
export function updated(target: Fields, change: Fields, mask: string): Fields {
  const result = structuredClone(target);
  for (const path of mask.split(',').filter((one) => one !== '')) put(result, change, path.split('.'));
  return result;
}

function put(target: Fields, change: Fields, [name = '', ...rest]: string[]): void {
  if (rest.length === 0) {
    const value = change[name];
    if (value === undefined || value === null) delete target[name];
    else target[name] = structuredClone(value);
    return;
  }
  const inner = fieldsOf(target[name]);
  target[name] = inner;
  put(inner, fieldsOf(change[name]), rest);
}
