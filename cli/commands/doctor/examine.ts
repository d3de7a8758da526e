/** Asks the API what `doctor` wants to know. A question that is refused is a finding, and ends no other. */
import type { Api } from '../../api/client.ts';
import { Refusal, Unreachable } from '../../api/problem.ts';
import type { World } from '../../world.ts';
import type { Finding } from './findings.ts';
import * as findings from './findings.ts';

/** Statuses of runs that should go on without anybody. */
const LIVE = ['pending', 'running', 'interrupted', 'awaiting_approval', 'waiting_external'] as const;
/** Of each status, the newest: a sample. */
const RUNS = 100;
const SCHEDULES = 500;

export async function examine(api: Api, world: World): Promise<Finding[]> {
  const { url } = api.connection;
  const healthy = await ask('health', async () => {
    const answer = await api.exchange({ method: 'GET', target: '/v1/healthz' });
    return [findings.health(url, answer), findings.clock(answer)];
  });
  if (healthy.some(({ code }) => code === 'UNREACHABLE' || code === 'NOT_CAIRN')) return healthy;
  const rest = await Promise.all([
    ask('workflows', async () => findings.workflows(await api.get('/v1/workflows'), world.now())),
    ask('schedules', async () => {
      const { items } = await api.list('/v1/schedules', { limit: SCHEDULES });
      return findings.schedules(items, world.now());
    }),
    ask('runs', async () => {
      const lists = await Promise.all(
        LIVE.map((status) => api.list('/v1/runs', { query: { status }, limit: RUNS })),
      );
      return findings.liveRuns(
        lists.flatMap(({ items }) => items),
        world.now(),
      );
    }),
  ]);
  return [...healthy, ...rest.flat()];
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
