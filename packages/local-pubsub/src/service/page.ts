/** Pages of lists that are ordered by name. */
import { LIMITS } from '../model/resources.ts';
import { invalid } from '../model/status.ts';

export interface ResourcePageRequest {
  readonly pageSize?: number;
  readonly pageToken?: string;
}

/** @throws PubsubError INVALID_ARGUMENT for a token of no page */
export function pageOf<T extends { readonly name: string }>(
  all: readonly T[],
  { pageSize, pageToken }: ResourcePageRequest,
): { readonly page: readonly T[]; readonly nextPageToken: string } {
  if ((pageSize ?? 0) < 0) throw invalid('page_size must not be negative.');
  const after = pageToken ? positionOf(pageToken) : '';
  const rest = all.filter(({ name }) => name > after);
  const page = rest.slice(0, Math.min(pageSize || LIMITS.page, LIMITS.page));
  const more = rest.length > page.length;
  return { page, nextPageToken: more ? tokenOf(page.at(-1)?.name ?? '') : '' };
}

/** Prefix by which text that only looks like a token is refused. */
const AFTER = 'after ';

/** A page token has the last name of the previous page. */
const tokenOf = (name: string) => Buffer.from(AFTER + name).toString('base64url');

function positionOf(token: string): string {
  const text = Buffer.from(token, 'base64url').toString();
  const name = text.slice(AFTER.length);
  if (tokenOf(name) !== token) throw invalid('Invalid page_token.');
  return name;
}

export const byName = <T extends { readonly name: string }>(resources: T[]): T[] =>
  resources.sort((a, b) => (a.name < b.name ? -1 : 1));

/** Resources of a project, sorted by name. */
export const within = <T extends { readonly name: string }>(project: string, resources: T[]): T[] =>
  byName(resources.filter(({ name }) => name.startsWith(`${project}/`)));
