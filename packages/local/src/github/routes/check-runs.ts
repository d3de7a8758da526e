/** Check runs of commits. */
import type { StandInReply, StandInRequest, StandInRoute } from '../../stand-in/route.ts';
import type { StoredItem } from '../../stand-in/store.ts';
import { invalid, members, NOT_FOUND, paged, repositoryOf, sliceOf, timeOf } from '../pages.ts';

interface CheckRun {
  readonly repository: string;
  readonly name: string;
  readonly head_sha: string;
  readonly status: string;
  readonly conclusion: string | null;
  readonly external_id: string;
  readonly details_url: string | null;
  readonly output: unknown;
  readonly started_at: string;
  readonly completed_at: string | null;
}

const KIND = 'check-run';
const STATUSES = ['queued', 'in_progress', 'completed'];
const CONCLUSIONS = ['action_required', 'cancelled', 'failure', 'neutral', 'success', 'skipped', 'timed_out'];
/** Most check runs that GitHub shows of a commit. */
const MAX_LISTED = 1_000;
const ONE = '/repos/{owner}/{repo}/check-runs/{check_run_id}';

const placeOf = (request: StandInRequest, ref: unknown) => `${repositoryOf(request)}@${ref}`.toLowerCase();

export const checkRunRoutes: readonly StandInRoute[] = [
  {
    name: 'POST /repos/{owner}/{repo}/check-runs',
    changes: true,
    answer(request, store) {
      const fields = members(request.body);
      const { name, head_sha: sha } = fields;
      if (typeof name !== 'string' || name === '') return invalid('CheckRun', 'name', 'is missing');
      if (typeof sha !== 'string' || !/^[0-9a-f]{40}$/.test(sha))
        return { status: 422, body: { message: `No commit found for SHA: ${String(sha)}` } };
      const value = changed(request, {
        repository: repositoryOf(request),
        name,
        head_sha: sha,
        status: 'queued',
        conclusion: null,
        external_id: '',
        details_url: null,
        output: null,
        started_at: timeOf(request.now),
        completed_at: null,
      });
      if ('refusal' in value) return value.refusal;
      const id = store.add(KIND, placeOf(request, sha), value.run);
      return { status: 201, body: shown(request, { id, value: value.run }) };
    },
  },
  {
    name: `PATCH ${ONE}`,
    changes: true,
    answer(request, store) {
      const found = store.get<CheckRun>(KIND, Number(request.params.check_run_id));
      if (!found || found.value.repository !== repositoryOf(request)) return NOT_FOUND;
      const value = changed(request, found.value);
      if ('refusal' in value) return value.refusal;
      store.put(KIND, found.id, value.run);
      return { status: 200, body: shown(request, { id: found.id, value: value.run }) };
    },
  },
  {
    name: `GET ${ONE}`,
    changes: false,
    answer(request, store) {
      const found = store.get<CheckRun>(KIND, Number(request.params.check_run_id));
      if (!found || found.value.repository !== repositoryOf(request)) return NOT_FOUND;
      return { status: 200, body: shown(request, found) };
    },
  },
  {
    name: 'GET /repos/{owner}/{repo}/commits/{ref}/check-runs',
    changes: false,
    answer(request, store) {
      const { query, params } = request;
      const all = store.list<CheckRun>(KIND, placeOf(request, params.ref), {
        skip: 0,
        take: MAX_LISTED,
        newestFirst: true,
      });
      const [name, status] = [query.get('check_name'), query.get('status')];
      const wanted = all.filter(
        ({ value }, i) =>
          (name === null || value.name === name) &&
          (status === null || value.status === status) &&
          // Only the newest per name, unless all are requested.
          (query.get('filter') === 'all' || all.findIndex((one) => one.value.name === value.name) === i),
      );
      const { skip, take } = sliceOf(request);
      const runs = wanted.slice(skip, skip + take).map((run) => shown(request, run));
      const path = `/repos/${repositoryOf(request)}/commits/${params.ref}/check-runs`;
      return paged(request, { total_count: wanted.length, check_runs: runs }, { path, total: wanted.length });
    },
  },
];

/** Given members replace the existing ones. */
function changed(
  { body, now }: StandInRequest,
  run: CheckRun,
): { readonly run: CheckRun } | { readonly refusal: StandInReply } {
  const fields = members(body);
  const conclusion = fields.conclusion ?? run.conclusion;
  const status = fields.conclusion === undefined ? (fields.status ?? run.status) : 'completed';
  if (!STATUSES.includes(String(status)))
    return { refusal: invalid('CheckRun', 'status', 'is not included in the list') };
  if (status === 'completed' && !CONCLUSIONS.includes(String(conclusion)))
    return { refusal: invalid('CheckRun', 'conclusion', 'is not included in the list') };
  const text = (name: string, before: string | null) => {
    const value = fields[name];
    return typeof value === 'string' ? value : before;
  };
  return {
    run: {
      ...run,
      name: text('name', run.name) ?? run.name,
      status: String(status),
      conclusion: conclusion === null ? null : String(conclusion),
      external_id: text('external_id', run.external_id) ?? '',
      details_url: text('details_url', run.details_url),
      output: fields.output ?? run.output,
      completed_at: status === 'completed' ? (run.completed_at ?? timeOf(now)) : null,
    },
  };
}

function shown({ url }: StandInRequest, { id, value: { repository, ...run } }: StoredItem<CheckRun>) {
  return {
    id,
    ...run,
    url: `${url}/repos/${repository}/check-runs/${id}`,
    html_url: `https://github.com/${repository}/runs/${id}`,
  };
}
