/** Pages of lists that are ordered by name. */
import { LIMITS } from '../model/resources.ts';
import { invalid } from '../model/status.ts';

export interface ResourcePageRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** A page token is the last name of the previous page. */
export function pageOf<T extends { readonly name: string }>(
  all: readonly T[],
  { pageSize, pageToken }: ResourcePageRequest,
): { readonly page: readonly T[]; readonly nextPageToken: string } {
  if ((pageSize ?? 0) < 0) throw invalid('page_size must not be negative.');
  const after = Buffer.from(pageToken ?? '', 'base64url').toString();
  const rest = all.filter(({ name }) => name > after);
  const page = rest.slice(0, Math.min(pageSize || LIMITS.page, LIMITS.page));
  const more = rest.length > page.length;
  return { page, nextPageToken: more ? Buffer.from(page.at(-1)?.name ?? '').toString('base64url') : '' };
}

export const byName = <T extends { readonly name: string }>(resources: T[]): T[] =>
  resources.sort((a, b) => (a.name < b.name ? -1 : 1));

/** Resources of a project, sorted by name. */
export const within = <T extends { readonly name: string }>(project: string, resources: T[]): T[] =>
  byName(resources.filter(({ name }) => name.startsWith(`${project}/`)));
