/** The stream of a live run, through gateway, worker and Firestore listener, cut at each of them. */

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CairnClient, type StreamedTexts, Unreachable, withLine } from '../../packages/client/src/index.ts';
import { control, getJson, type Ready } from '../../packages/local/src/cloud-process.ts';
import { signalTo } from '../support/processes.ts';
import { eventually, send, startRun, startTestCloud, type TestCloud } from './support.ts';

interface Told {
  readonly seq: number;
  readonly type: string;
}

const PAUSE_MS = 50;

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startTestCloud('memory', { workers: 2, isDisturbed: true });
});
afterAll(() => cloud.stop());

/** Follows a run like an EventSource: reconnects after a cut and continues after its last event. */
class Follower {
  readonly events: Told[] = [];
  readonly #ready: Ready;
  readonly #runId: string;
  connections = 0;
  end: unknown;
  #cut = new AbortController();

  constructor(ready: Ready, runId: string) {
    this.#ready = ready;
    this.#runId = runId;
  }

  /** Resolves when the stream reports the end of the run. */
  async follow(): Promise<void> {
    while (this.end === undefined) {
      this.#cut = new AbortController();
      await this.#once().catch(() => delay(PAUSE_MS));
    }
  }

  /** Cuts the connection of the client. */
  cut(): void {
    this.#cut.abort();
  }

  async #once(): Promise<void> {
    const last = this.events.at(-1)?.seq;
    const answer = await fetch(`${this.#ready.gateway}/v1/runs/${this.#runId}/stream`, {
      signal: this.#cut.signal,
      headers: {
        authorization: `Bearer ${this.#ready.apiKey}`,
        ...(last === undefined ? {} : { 'last-event-id': String(last) }),
      },
    });
    if (answer.status !== 200 || !answer.body) return;
    this.connections += 1;
    let text = '';
    for await (const chunk of answer.body) {
      text += Buffer.from(chunk).toString();
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) this.#take(frame);
    }
  }

  #take(frame: string): void {
    const data = /^data: (.*)$/m.exec(frame)?.[1];
    if (data === undefined) return;
    if (/^event: end$/m.test(frame)) this.end = JSON.parse(data);
    else this.events.push(JSON.parse(data) as Told);
  }
}

async function begin(type: string, input: unknown): Promise<{ runId: string; follower: Follower }> {
  const { runId } = (await (await startRun(cloud.ready, type, input)).json()) as { runId: string };
  return { runId, follower: new Follower(cloud.ready, runId) };
}

async function sendEvent(key: string): Promise<void> {
  const body = { event: 'sent', key, data: 'hello' };
  const answer = await send(cloud.ready, { path: '/v1/events', body });
  expect(answer.ok).toBe(true);
}

/** Expects each event of the journal once and in order, and nothing else. */
async function expectWhole(runId: string, { events, end }: Follower): Promise<void> {
  const listed = await getJson<{ items: Told[] }>(cloud.ready, `/v1/runs/${runId}/events?limit=100`);
  expect(events).toEqual(listed.items);
  expect(end).toEqual({ status: 'completed' });
}

function suspended(follower: Follower): Promise<Told> {
  return eventually('the run to wait', () => follower.events.find(({ type }) => type === 'run_suspended'));
}

test('a watcher of the list sees a run appear, change and end, and sees it at once after a new connection', async () => {
  const { gateway, apiKey } = cloud.ready;
  const gone = new AbortController();
  const watch = async function* (signal: AbortSignal) {
    const headers = { authorization: `Bearer ${apiKey}` };
    const answer = await fetch(`${gateway}/v1/runs/stream?type=awaiting&limit=5`, { headers, signal });
    let text = '';
    for await (const chunk of answer.body ?? []) {
      text += Buffer.from(chunk).toString();
      const frames = text.split('\n\n');
      text = frames.pop() ?? '';
      for (const frame of frames) {
        const [, event, data] = /^event: (.*)\ndata: (.*)$/m.exec(frame) ?? [];
        if (event && data) yield { event, run: JSON.parse(data) as { id?: string; status?: string } };
      }
    }
  };
  let runId = '';
  const statuses: string[] = [];
  for await (const { event, run } of watch(gone.signal)) {
    if (event === 'ready') ({ runId } = await begin('awaiting', { key: 'list' }));
    if (run.id !== runId || run.status === undefined || statuses.at(-1) === run.status) continue;
    statuses.push(run.status);
    if (run.status === 'waiting_external') await sendEvent('list');
    if (run.status === 'completed') break;
  }
  expect(statuses).toEqual(expect.arrayContaining(['waiting_external', 'completed']));
  const seen: (string | undefined)[] = [];
  for await (const { event, run } of watch(gone.signal)) {
    if (event === 'ready') break;
    seen.push(run.id);
  }
  expect(seen).toContain(runId);
});

describe('a follower of a live run receives each event once if', () => {
  test('the stream is not interrupted', async () => {
    const { runId, follower } = await begin('chain-10', {});
    await follower.follow();
    await expectWhole(runId, follower);
    expect(follower.connections).toBe(1);
  });

  test('the client loses its connection in the middle of the run', async () => {
    const { runId, follower } = await begin('awaiting', { key: 'client' });
    const done = follower.follow();
    await suspended(follower);
    follower.cut();
    await sendEvent('client');
    await done;
    await expectWhole(runId, follower);
    expect(follower.connections).toBe(2);
  });

  test('the Firestore listener behind the stream fails repeatedly', async () => {
    const fault = { kind: 'cut-stream', afterMessages: 5 };
    await control(cloud.ready, 'PUT', '/faults', {
      seed: 1,
      rules: [{ call: 'Listen', probability: 1, times: 6, fault }],
    });
    const { runId, follower } = await begin('awaiting', { key: 'listener' });
    const done = follower.follow();
    await suspended(follower);
    await sendEvent('listener');
    await done;
    await expectWhole(runId, follower);
    expect(follower.connections).toBe(1);
    const { injected } = await control<{ injected: Record<string, number> }>(cloud.ready, 'GET', '/faults');
    expect(injected['cut-stream']).toBeGreaterThan(0);
    await control(cloud.ready, 'DELETE', '/faults');
  });

  test('the process that serves the stream is killed', async () => {
    const { runId, follower } = await begin('awaiting', { key: 'killed' });
    const done = follower.follow();
    await suspended(follower);
    const { workers } = await control<{ workers: number[] }>(cloud.ready, 'GET', '/pids');
    for (const pid of workers) signalTo(pid, 'SIGKILL');
    await eventually('the stream to be open again', () => (follower.connections > 1 ? true : undefined));
    await sendEvent('killed');
    await done;
    await expectWhole(runId, follower);
  });
});

test('a reader of streamed text discards the text of a killed worker, and ends with the recorded output', async () => {
  const { gateway, apiKey } = cloud.ready;
  const folder = mkdtempSync(join(tmpdir(), 'cairn-stream-'));
  try {
    const until = join(folder, 'go-on');
    const { runId } = await begin('talking', { until });
    const client = new CairnClient({ url: gateway, credential: apiKey });
    let texts: StreamedTexts = new Map();
    let attempts = 0;
    const ids: string[] = [];
    let hasEnded = false;
    const follow = async () => {
      for await (const one of client.followLogs(runId, { kind: 'text', after: ids.at(-1) })) {
        if (one.kind === 'end') hasEnded = true;
        if (one.kind !== 'text') continue;
        ids.push(one.id);
        if (one.line.kind === 'attempt') attempts += 1;
        texts = withLine(texts, one.line);
      }
    };
    const read = (async () => {
      // On a slow machine the next worker may take longer to start than the client tries.
      while (!hasEnded)
        await follow().catch((error: unknown) => {
          if (!(error instanceof Unreachable)) throw error;
        });
    })();
    const shown = () => [...texts.values()][0];
    const first = await eventually('text of the first worker', () => shown()?.text || undefined);
    expect(first).toMatch(/^Process \d+ says $/);
    const { workers } = await control<{ workers: number[] }>(cloud.ready, 'GET', '/pids');
    for (const pid of workers) signalTo(pid, 'SIGKILL');
    writeFileSync(until, '');
    await read;
    const run = await getJson<{ status: string; result: { output: string } }>(
      cloud.ready,
      `/v1/runs/${runId}`,
    );
    expect(run.status).toBe('completed');
    expect(shown()).toMatchObject({ text: run.result.output, state: 'whole' });
    expect(run.result.output).not.toContain(first);
    expect(attempts).toBeGreaterThan(1);
    expect(new Set(ids).size).toBe(ids.length);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
