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
