/** Pages and refusals in GitHub's format. */
import type { StandInReply, StandInRequest } from '../stand-in/route.ts';
import type { Slice } from '../stand-in/store.ts';

const DEFAULT_PER_PAGE = 30;
const MAX_PER_PAGE = 100;

export function sliceOf({ query }: StandInRequest): Slice {
  const take = Math.min(positive(query.get('per_page')) ?? DEFAULT_PER_PAGE, MAX_PER_PAGE);
  return { skip: ((positive(query.get('page')) ?? 1) - 1) * take, take };
}

function positive(text: string | null): number | undefined {
  const value = Number(text);
  return Number.isSafeInteger(value) && value > 0 ? value : undefined;
}

interface ListedPage {
  /** Path of the pages, without query. */
  readonly path: string;
  readonly total: number;
}

/** With the `Link` header that names the next page and the last. */
export function paged(request: StandInRequest, body: unknown, { path, total }: ListedPage): StandInReply {
  const { skip, take } = sliceOf(request);
  const page = skip / take + 1;
  const last = Math.max(1, Math.ceil(total / take));
  const link = (to: number, rel: string) => {
    const query = new URLSearchParams(request.query);
    query.set('page', String(to));
    return `<${request.url}${path}?${query}>; rel="${rel}"`;
  };
  if (page >= last) return { status: 200, body };
  return { status: 200, body, headers: { link: `${link(page + 1, 'next')}, ${link(last, 'last')}` } };
}

export const NOT_FOUND: StandInReply = { status: 404, body: { message: 'Not Found' } };

export function invalid(resource: string, field: string, message: string): StandInReply {
  const errors = [{ resource, field, code: 'invalid', message }];
  return { status: 422, body: { message: 'Validation Failed', errors } };
}

/** The members of a JSON object; empty for other values. */
export function members(body: unknown): Readonly<Record<string, unknown>> {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
    ? (body as Readonly<Record<string, unknown>>)
    : {};
}

export function repositoryOf({ params: { owner, repo } }: StandInRequest): string {
  return `${owner}/${repo}`;
}

/** Without milliseconds, as GitHub writes times. */
export function timeOf(now: number): string {
  return new Date(now).toISOString().replace(/\.\d{3}Z$/, 'Z');
}

/** Author of everything created here. */
export const ACTOR = { login: 'cairn-local[bot]', type: 'Bot' };
