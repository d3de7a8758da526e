/** Reads the data for `doctor` from the API. A refused request does not end the others. */
import {
  type Asked,
  type CairnClient,
  type Finding,
  isLocal,
  isSilent,
  judgeHealth,
  Refusal,
  Unreachable,
} from '@cairn/client';

/** Statuses of runs that should continue without intervention. */
const LIVE = ['pending', 'running', 'interrupted', 'awaiting_approval', 'waiting_external'] as const;
/** Newest runs of each status: a sample. */
const RUNS = 100;
const SCHEDULES = 500;

interface Examination {
  readonly findings: readonly Finding[];
  /** True for the local cloud, where `gcloud` commands do not apply. */
  readonly isLocal: boolean;
}

export async function examine(api: CairnClient): Promise<Examination> {
  const { url } = api;
  const exchange = await ask(api.exchange({ method: 'GET', target: '/v1/healthz' }));
  const reached = judgeHealth({ url, exchange }, api.now());
  if (isSilent(reached)) return { findings: reached, isLocal: false };
  const diagnosis = await ask(api.get('/v1/diagnosis'));
  const [workflows, schedules, runs] = await Promise.all([
    // The diagnosis includes switches and versions, for all tenants.
    'answer' in diagnosis ? undefined : ask(api.get('/v1/workflows')),
    ask(api.list('/v1/schedules', { limit: SCHEDULES }).then(({ items }) => items)),
    ask(liveRuns(api)),
  ]);
  const findings = judgeHealth({ url, exchange, diagnosis, workflows, schedules, runs }, api.now());
  return { findings, isLocal: 'answer' in diagnosis && isLocal(diagnosis.answer) };
}

async function liveRuns(api: CairnClient) {
  const lists = await Promise.all(
    LIVE.map((status) => api.list('/v1/runs', { query: { status }, limit: RUNS })),
  );
  return lists.flatMap(({ items }) => items);
}

async function ask<T>(question: Promise<T>): Promise<Asked<T>> {
  try {
    return { answer: await question };
  } catch (error) {
    if (error instanceof Refusal || error instanceof Unreachable) return { error };
    throw error;
  }
}
