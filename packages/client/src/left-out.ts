/** Says which runs a sorted list leaves out. Pure; console, command line and tools for agents show the same words. */

/** @param sort the order that was asked for, where the answer has `isCut` */
export function leftOutText(sort: string | undefined): string {
  const [sorted, others] = sort === 'oldest' ? ['oldest', 'Newer'] : ['newest', 'Older'];
  return `Only the ${sorted} 1,000 matching runs were sorted. ${others} ones are left out: narrow the list by a filter or a time.`;
}
