/** Optional columns of the list, and their names in the address. The class of a column in page.css is `c-{name}`. Pure. */

export const OPTIONAL_COLUMNS = {
  about: 'About',
  trigger: 'Trigger',
  time: 'Started',
  steps: 'Steps',
  now: 'Now',
} as const;
export type OptionalColumn = keyof typeof OPTIONAL_COLUMNS;

/** Name in the address of the page. */
export const HIDDEN = 'hide';

const COLUMNS = Object.keys(OPTIONAL_COLUMNS) as readonly OptionalColumn[];

/** The columns that the address hides; unknown names are ignored. */
export function hiddenIn(search: string): readonly OptionalColumn[] {
  const named = new URLSearchParams(search).get(HIDDEN)?.split(',') ?? [];
  return COLUMNS.filter((column) => named.includes(column));
}

/** Hides the column, or shows it if it is hidden. Returns the value for the address. */
export function toggledColumn(hidden: readonly OptionalColumn[], column: OptionalColumn): string | undefined {
  const isHidden = (one: OptionalColumn) => hidden.includes(one) !== (one === column);
  return COLUMNS.filter(isHidden).join(',') || undefined;
}
