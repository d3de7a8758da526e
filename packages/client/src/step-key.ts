/** Key of a step, as the API names it: its id, or `id[itemKey]` for an item of a set. */
export function stepKey({
  stepId,
  itemKey,
}: {
  readonly stepId: string;
  readonly itemKey?: string | undefined;
}): string {
  return itemKey === undefined ? stepId : `${stepId}[${itemKey}]`;
}

/** Key of a step, with revision and attempt where they are not the first: `pay (revision 2, attempt 3)`. */
export function attemptKey({
  revision,
  attempt,
  ...step
}: Parameters<typeof stepKey>[0] & { readonly revision: number; readonly attempt: number }): string {
  const which = [
    ...(revision > 1 ? [`revision ${revision}`] : []),
    ...(attempt > 1 ? [`attempt ${attempt}`] : []),
  ];
  return which.length === 0 ? stepKey(step) : `${stepKey(step)} (${which.join(', ')})`;
}
