/** Brings an installation into every state that the console shows. Returns the ids. */
import { sign } from '@octokit/webhooks-methods';
import { EXAMPLE_PAYLOAD } from '../../../packages/local/src/gateway/welcome.ts';
import { eventually } from '../../system/support.ts';
import type { ConsoleCloud } from './cloud.ts';

export interface Showcase {
  /** Waits for an approval. */
  readonly asking: string;
  /** Has a payment in doubt. */
  readonly doubtful: string;
  readonly completed: string;
  readonly failed: string;
  /** Made from the failed run. */
  readonly successor: string;
  readonly review: string;
  readonly schedule: string;
}

interface Run {
  readonly id: string;
  readonly status: string;
  readonly waits: readonly { readonly id: string; readonly purpose?: string }[];
}

/** @param text is put into every text of a run that its author or caller can set */
export async function makeShowcase(cloud: ConsoleCloud, text: string): Promise<Showcase> {
  const { call } = cloud;
  const start = async (invoice: string, breaks = false) => {
    const body = {
      type: 'pay-invoice',
      input: { invoice, text, breaks },
      threadId: text.includes('<') ? `<i>${invoice}</i>` : `invoice-${invoice}`,
    };
    return (await call<{ runId: string }>('POST', '/v1/runs', body)).runId;
  };
  const until = async (runId: string, what: string, holds: (run: Run) => boolean) => {
    let last: Run | undefined;
    try {
      return await eventually(`${runId} ${what}`, async () => {
        last = await call<Run>('GET', `/v1/runs/${runId}`);
        return holds(last) ? last : undefined;
      });
    } catch (error) {
      throw new Error(`${(error as Error).message}: ${JSON.stringify(last)}`, { cause: error });
    }
  };
  const asks = (runId: string) => until(runId, 'to ask', ({ status }) => status === 'awaiting_approval');
  const decide = async (runId: string, decision: string) => {
    await asks(runId);
    await call('POST', `/v1/runs/${runId}/approvals/approve`, {
      decision,
      ...(decision.includes('waiver') && { note: text }),
    });
  };
  const doubts = (runId: string) =>
    until(runId, 'to doubt', ({ waits }) => waits.some(({ purpose }) => purpose === 'effect'));
  const payAgain = async (runId: string) => {
    await doubts(runId);
    const { items } = await call<{ items: { effectId: string }[] }>('GET', `/v1/runs/${runId}/effects`);
    const path = `/v1/runs/${runId}/effects/${encodeURIComponent(items[0]?.effectId ?? '')}/resolve`;
    await call('POST', path, { outcome: 're-execute', note: text.slice(0, 500) });
  };
  const ended = (runId: string, wanted: string) =>
    until(runId, `to be ${wanted}`, ({ status }) => status === wanted);

  const [asking, doubtful, completed, failed] = await Promise.all([
    start('A-1'),
    start('A-2'),
    start('A-3'),
    start('A-4', true),
  ]);
  const deliver = await fetch(`${cloud.ready.gateway}/webhooks/github`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-github-event': 'pull_request',
      'x-github-delivery': '2f0c7d1e-0000-4000-8000-000000000001',
      'x-hub-signature-256': await sign(String(cloud.ready.secrets.github), EXAMPLE_PAYLOAD),
    },
    body: EXAMPLE_PAYLOAD,
  });
  const { runId: review } = (await deliver.json()) as { runId: string };
  const cancelled = await start('A-5');
  await Promise.all([
    asks(asking),
    decide(doubtful, 'approve'),
    decide(completed, 'approve'),
    decide(failed, 'approve'),
  ]);
  await asks(cancelled);
  await call('POST', `/v1/runs/${cancelled}/cancel`, { reason: `no longer needed ${text}`.slice(0, 500) });
  await Promise.all([doubts(doubtful), payAgain(completed), payAgain(failed)]);
  await Promise.all([ended(completed, 'completed'), ended(failed, 'failed'), ended(review, 'completed')]);
  const { runId: successor } = await call<{ runId: string }>('POST', `/v1/runs/${failed}/replay`, {});
  const { id: schedule } = await call<{ id: string }>('POST', '/v1/schedules', {
    type: 'chain-10',
    cron: '30 3 * * *',
    timezone: 'Europe/Berlin',
    name: `Nightly ${text}`.slice(0, 100),
  });
  return { asking, doubtful, completed, failed, successor, review, schedule };
}
