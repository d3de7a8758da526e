/** Named views of the list. A view is the query of an address, so that a link opens it. Pure. */

export interface SavedView {
  readonly name: string;
  /** Query without its question mark. */
  readonly query: string;
}

/** As many as a menu can show. */
export const MAX_VIEWS = 50;
export const MAX_NAME_CHARS = 60;
/** Longer than any query that the filters make. */
const MAX_QUERY_CHARS = 4_000;

/** Views stored in this browser. Other stored text is ignored. */
export function viewsIn(text: string | null): readonly SavedView[] {
  const stored = parsed(text ?? '');
  return Array.isArray(stored) ? stored.filter(isView).slice(0, MAX_VIEWS) : [];
}

/** Adds the view, or replaces one of the same name. Undefined if there are too many, or the view has no name. */
export function withView(
  views: readonly SavedView[],
  { name, query }: SavedView,
): readonly SavedView[] | undefined {
  const view = { name: name.trim(), query };
  const others = views.filter((one) => one.name !== view.name);
  if (!isView(view) || others.length >= MAX_VIEWS) return undefined;
  return [...others, view].sort((a, b) => a.name.localeCompare(b.name));
}

/** Text of the button that saves: a view of the same name would be lost. */
export function saveVerb(views: readonly SavedView[], name: string): 'Save' | 'Replace' {
  return views.some((one) => one.name === name.trim()) ? 'Replace' : 'Save';
}

export function withoutView(views: readonly SavedView[], name: string): readonly SavedView[] {
  return views.filter((one) => one.name !== name);
}

/** Returns true if both show the same: the order of the values does not matter. */
export function isSameQuery(a: string, b: string): boolean {
  const sorted = (query: string) => {
    const values = new URLSearchParams(query);
    values.sort();
    return values.toString();
  };
  return sorted(a) === sorted(b);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isView(value: unknown): value is SavedView {
  if (typeof value !== 'object' || value === null) return false;
  const { name, query } = value as Partial<SavedView>;
  return (
    typeof name === 'string' &&
    name !== '' &&
    name.length <= MAX_NAME_CHARS &&
    typeof query === 'string' &&
    query.length <= MAX_QUERY_CHARS
  );
}
