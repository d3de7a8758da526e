/** A local cloud whose workers may be harmed, and the crowds that are drawn on it one after the other. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type CloudProcess,
  type Ready,
  startCloudProcess,
} from '../../../../packages/local/src/cloud-process.ts';
import { isAlive } from '../../../support/processes.ts';
import { eventually, startRun, tryGet } from '../../../system/requests.ts';
import { Draw } from '../../data/draw.ts';
import { type Crowd, drawCrowd, HARMS, type HarmKind, type RunPlan } from '../grammar.ts';
import { type End, judge, type Outcome } from '../judge.ts';
import { NOTES, type Note, notesIn } from './harm.ts';

const SCALE = { bodyMs: 300, timerMs: 1_500, pauseMs: 1_500 };
const MAX_INNOCENTS = 8;
/** Heap limit, so that a body that takes memory soon reaches it. The cloud has the same limit. */
const HEAP_MB = 256;
/** Time limit of a draw, ms: each of its processes may have to be restarted. */
const LIMIT_MS = 300_000;
const LOST = /worker (\d+) .*; starting another/g;
const LINES_OF_WORKERS = /^.*worker \d+ .*$/gm;
const SILENT = /worker (\d+) sent no heartbeat/g;

interface RunView extends End {
  readonly id: string;
}

interface RunEventView {
  readonly seq: number;
  readonly at: string;
  readonly type: string;
  readonly data: {
    readonly stepId?: string;
    readonly epoch?: number;
    readonly alone?: true;
    readonly why?: string;
    readonly reason?: string;
  };
}

export class RealStage {
  readonly #cloud: CloudProcess;
  readonly #folder: string;
  #complaints = '';

  private constructor(cloud: CloudProcess, folder: string) {
    this.#cloud = cloud;
    this.#folder = folder;
    cloud.process.stderr?.on('data', (chunk) => {
      this.#complaints += String(chunk);
    });
  }

  /** @param watchdogSeconds lifetime of a worker that spins */
  static async start(watchdogSeconds: number): Promise<RealStage> {
    const folder = mkdtempSync(join(tmpdir(), 'cairn-crowds-'));
    const cloud = await startCloudProcess({
      data: 'memory',
      functionsModule: join(import.meta.dirname, 'functions.ts'),
      workers: 2,
      watchdogSeconds,
      env: {
        [NOTES]: join(folder, 'notes'),
        CAIRN_LEASE_MS: '10000',
        NODE_OPTIONS: `--max-old-space-size=${HEAP_MB}`,
      },
    });
    return new RealStage(cloud, folder);
  }

  async stop(): Promise<void> {
    this.#cloud.process.kill('SIGTERM');
    await this.#cloud.ended;
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** @throws Error that names the seed, if a rule is broken */
  async trial(seed: number): Promise<Outcome> {
    const crowd = crowdOf(seed);
    const { ready } = this.#cloud;
    this.#complaints = '';
    const before = this.#notes.length;
    const started = await Promise.all([...crowd.innocents, crowd.hostile].map((plan) => start(ready, plan)));
    const ends = await Promise.all(started.map((runId) => ended(ready, runId)));
    // Armed harms must strike in this draw and not in the next one.
    await eventually(
      `seed ${seed}: the processes with something armed to end`,
      () => (this.#notes.some(({ what, pid }) => what === 'armed' && isAlive(pid)) ? undefined : true),
      LIMIT_MS,
    );
    const hostile = ends.pop();
    if (!hostile) throw new Error('no run ended');
    const notes = this.#notes.slice(before);
    try {
      return judge(seed, crowd, { innocents: ends, hostile, deaths: this.#deaths(notes) });
    } catch (error) {
      const story = await this.#storyOf(hostile.id, notes);
      throw new Error(`${(error as Error).message}\n${story}`);
    }
  }

  /**
   * Processes that were struck, and those that the cloud lost without a strike. A process whose only dispatch is answered
   * has nothing to lose and is ended anyway, so a later strike does not count. A process that was not struck and was silent for
   * too long got too little time on a busy machine.
   */
  #deaths(notes: readonly Note[]): string[] {
    const firsts = new Map<number, Note['what']>();
    for (const { what, pid } of notes) if (what !== 'armed' && !firsts.has(pid)) firsts.set(pid, what);
    const struck = [...firsts].filter(([, what]) => what === 'struck').map(([pid]) => `process ${pid}`);
    // Earlier draws count too, because the cloud may report the last of their ends late.
    const known = new Set(this.#notes.filter(({ what }) => what === 'struck').map(({ pid }) => pid));
    for (const pid of told(this.#complaints, SILENT)) known.add(pid);
    const others = told(this.#complaints, LOST).filter((pid) => !known.has(pid));
    return [...struck, ...others.map((pid) => `process ${pid}, which was not struck`)];
  }

  /** The journal of a run with the notes of its processes, by time, and then the cloud's reports of their ends. */
  async #storyOf(runId: string, notes: readonly Note[]): Promise<string> {
    const path = `/v1/runs/${runId}/events?limit=100`;
    const page = await tryGet<{ items: RunEventView[] }>(this.#cloud.ready, path);
    const items = page?.items ?? [];
    const events = items.map(
      ({ at, seq, type, data: { stepId = '', alone, epoch = '', why = '', reason = '' } }) => ({
        at,
        line: [`#${seq} ${type}`, stepId, epoch, alone ? 'alone' : '', why, reason].join(' '),
      }),
    );
    const noted = notes.map(({ at, what, pid }) => ({ at, line: `process ${pid} ${what}` }));
    const all = [...events, ...noted].sort((a, b) => a.at.localeCompare(b.at));
    const ends = this.#complaints.match(LINES_OF_WORKERS) ?? [];
    return [...all.map(({ at, line }) => `${at} ${line.trimEnd()}`), ...ends].join('\n');
  }

  get #notes(): Note[] {
    return notesIn(join(this.#folder, 'notes'));
  }
}

export function crowdOf(seed: number): Crowd {
  return drawCrowd(new Draw(seed), MAX_INNOCENTS, SCALE);
}

export function harmsOf(seed: number): HarmKind[] {
  const { items, chain } = crowdOf(seed).hostile;
  const kinds = new Set([...items, ...chain].map(({ harm }) => harm?.kind));
  return HARMS.filter((kind) => kinds.has(kind));
}

/** Starts a run. A busy machine may answer 503, after which the request is repeated. */
function start(ready: Ready, plan: RunPlan): Promise<string> {
  const key = randomUUID();
  return eventually(
    'a run to start',
    async () => {
      const answer = await startRun(ready, 'crowd', plan, key);
      if (answer.status === 503) return undefined;
      const { runId } = (await answer.json()) as { runId?: string };
      if (runId === undefined) throw new Error(`a start was answered with ${answer.status}`);
      return runId;
    },
    LIMIT_MS,
  );
}

function ended(ready: Ready, runId: string): Promise<RunView> {
  return eventually(
    `run ${runId} to end`,
    async () => {
      const run = await tryGet<RunView>(ready, `/v1/runs/${runId}`);
      return run && ['completed', 'failed', 'cancelled'].includes(run.status) ? run : undefined;
    },
    LIMIT_MS,
  );
}

function told(complaints: string, of: RegExp): number[] {
  return [...complaints.matchAll(of)].map(([, pid]) => Number(pid));
}
