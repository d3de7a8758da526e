/** Asks the API what `doctor` wants to know. A question that is refused is a finding, and ends no other. */
import { type CairnClient, Refusal, Unreachable } from '@cairn/client';
import type { Finding } from './findings.ts';
import * as findings from './findings.ts';

/** Statuses of runs that should go on without anybody. */
const LIVE = ['pending', 'running', 'interrupted', 'awaiting_approval', 'waiting_external'] as const;
/** Of each status, the newest: a sample. */
const RUNS = 100;
const SCHEDULES = 500;

export async function examine(api: CairnClient): Promise<Finding[]> {
  const { url } = api;
  const healthy = await ask('health', async () => {
    const answer = await api.exchange({ method: 'GET', target: '/v1/healthz' });
    return [findings.health(url, answer), findings.clock(answer)];
  });
  if (healthy.some(({ code }) => code === 'UNREACHABLE' || code === 'NOT_CAIRN')) return healthy;
  const installation = await diagnosis(api);
  const rest = await Promise.all([
    // The diagnosis speaks of the switches and versions too, of all tenants.
    ask('workflows', async () =>
      installation.isSeen ? [] : findings.workflows(await api.get('/v1/workflows'), api.now()),
    ),
    ask('schedules', async () => {
      const { items } = await api.list('/v1/schedules', { limit: SCHEDULES });
      return findings.schedules(items, api.now());
    }),
    ask('runs', async () => {
      const lists = await Promise.all(
        LIVE.map((status) => api.list('/v1/runs', { query: { status }, limit: RUNS })),
      );
      return findings.liveRuns(
        lists.flatMap(({ items }) => items),
        api.now(),
      );
    }),
  ]);
  return [...healthy, ...installation.findings, ...rest.flat()];
}

/** A key without the role `installation` is told what it may see. */
async function diagnosis(
  api: CairnClient,
): Promise<{ readonly isSeen: boolean; readonly findings: Finding[] }> {
  let isSeen = false;
  const found = await ask('diagnosis', async () => {
    try {
      const { findings: told } = await api.get('/v1/diagnosis');
      isSeen = true;
      return told;
    } catch (error) {
      const status = error instanceof Refusal ? error.problem.status : undefined;
      if (status === 403) return [findings.moreAsAdmin()];
      if (status === 404) return [findings.olderApi()];
      throw error;
    }
  });
  return { isSeen, findings: found };
}

async function ask(what: string, question: () => Promise<Finding[]>): Promise<Finding[]> {
  try {
    return await question();
  } catch (error) {
    if (error instanceof Refusal) return [findings.refused(what, error.message)];
    if (error instanceof Unreachable) return [findings.unreachable(error.message)];
    throw error;
  }
}
