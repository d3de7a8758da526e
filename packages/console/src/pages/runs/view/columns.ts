/** Columns of the list that can be left out, in their order, and how the address names them. A column is `c-{name}` in page.css. Pure. */

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

/** The columns with one more, or without it if they had it, as the address has them. */
export function toggledColumn(hidden: readonly OptionalColumn[], column: OptionalColumn): string | undefined {
  const isHidden = (one: OptionalColumn) => hidden.includes(one) !== (one === column);
  return COLUMNS.filter(isHidden).join(',') || undefined;
}
