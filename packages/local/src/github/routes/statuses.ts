/** Statuses of commits. All are kept; the newest of a context counts. */
import type { StandInRequest, StandInRoute } from '../../stand-in/route.ts';
import type { StoredItem } from '../../stand-in/store.ts';
import { ACTOR, invalid, members, paged, repositoryOf, sliceOf, timeOf } from '../pages.ts';

interface Status {
  readonly state: string;
  readonly context: string;
  readonly description: string | null;
  readonly targetUrl: string | null;
  readonly createdAt: string;
}

const KIND = 'status';
const STATES = ['error', 'failure', 'pending', 'success'];
const MAX_DESCRIPTION_CHARS = 140;
/** Most statuses of a commit and context. */
const MAX_STATUSES = 1_000;

const placeOf = (request: StandInRequest, ref: string | undefined) =>
  `${repositoryOf(request)}@${ref}`.toLowerCase();

export const statusRoutes: readonly StandInRoute[] = [
  {
    name: 'POST /repos/{owner}/{repo}/statuses/{sha}',
    changes: true,
    answer(request, store) {
      const { sha } = request.params;
      const fields = members(request.body);
      const { state, context = 'default', description = null, target_url: targetUrl = null } = fields;
      if (!/^[0-9a-f]{40}$/.test(sha ?? ''))
        return { status: 422, body: { message: `No commit found for SHA: ${sha}` } };
      if (!STATES.includes(String(state)))
        return invalid('Status', 'state', 'State is not included in the list');
      if (typeof context !== 'string' || context === '')
        return invalid('Status', 'context', 'Context is invalid');
      if (!isText(description) || (description?.length ?? 0) > MAX_DESCRIPTION_CHARS)
        return invalid('Status', 'description', 'description is too long (maximum is 140 characters)');
      if (!isText(targetUrl) || (targetUrl !== null && !/^https?:/.test(targetUrl)))
        return invalid('Status', 'target_url', "target_url must use http(s) scheme, got 'nil'");
      const place = placeOf(request, sha);
      if (store.count(KIND, place) >= MAX_STATUSES)
        return invalid('Status', 'sha', 'This SHA and context has reached the maximum number of statuses.');
      const status: Status = {
        state: String(state),
        context,
        description,
        targetUrl,
        createdAt: timeOf(request.now),
      };
      return { status: 201, body: shown({ id: store.add(KIND, place, status), value: status }) };
    },
  },
  {
    name: 'GET /repos/{owner}/{repo}/commits/{ref}/statuses',
    changes: false,
    answer(request, store) {
      const { ref } = request.params;
      const place = placeOf(request, ref);
      const statuses = store.list<Status>(KIND, place, { ...sliceOf(request), newestFirst: true });
      const path = `/repos/${repositoryOf(request)}/commits/${ref}/statuses`;
      return paged(request, statuses.map(shown), { path, total: store.count(KIND, place) });
    },
  },
];

function isText(value: unknown): value is string | null {
  return value === null || typeof value === 'string';
}

function shown({ id, value }: StoredItem<Status>) {
  const { state, context, description, targetUrl, createdAt } = value;
  return {
    id,
    state,
    context,
    description,
    target_url: targetUrl,
    creator: ACTOR,
    created_at: createdAt,
    updated_at: createdAt,
  };
}
