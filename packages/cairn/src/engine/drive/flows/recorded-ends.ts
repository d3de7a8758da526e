/**
 * Recorded ends of the operations of a flow. They are read in batches in journal order when the code asks for them, one batch
 * ahead, and kept only until they are taken, so that memory does not grow with the number of operations.
 */
import { OperationFailed } from '../../../core/errors.ts';
import type { Checkpoint } from '../../../core/run/records.ts';
import type { StepOutcome } from '../../../core/run/state.ts';
import type { RunStore } from '../../../ports/run-store.ts';
import { NO_OUTPUT, type Outcome, parseFrozen } from '../../recording/output.ts';
import { originsOf, originText } from '../../stored-text.ts';
import { failureAt, READ_CHUNK } from '../outputs.ts';

/** When so many are left of a batch that is read in order, the next batch is read: code that stops earlier wastes only these reads. */
const READ_AHEAD = READ_CHUNK / 2;
/** Most checkpoints kept for operations that are not asked for in the order of the journal. */
const MAX_KEPT = 2 * READ_CHUNK;

interface RecordedEnd {
  readonly request: string | undefined;
  /** Reads the output or the error. */
  readonly read: () => Promise<Outcome>;
}

export class RecordedEnds {
  readonly #store: RunStore;
  readonly #runId: string;
  /** Sequence numbers of checkpoints of the flow when it began in this dispatch, ascending. */
  readonly #seqs: readonly number[];
  readonly #read = new Map<number, Checkpoint>();
  /** The read of the next batch. */
  #ahead: Promise<unknown> | undefined;

  constructor(store: RunStore, runId: string, seqs: readonly number[]) {
    this.#store = store;
    this.#runId = runId;
    this.#seqs = seqs;
  }

  async take(seq: number, outcome: StepOutcome): Promise<RecordedEnd> {
    if (outcome === 'failed') return this.#failure(seq);
    if (!this.#read.has(seq)) await this.#ahead;
    const checkpoint = this.#read.get(seq) ?? (await this.#fetch([seq, ...this.#after(seq, READ_CHUNK - 1)]));
    if (!checkpoint) throw new Error(`run ${this.#runId} has no checkpoint ${seq}`);
    this.#read.delete(seq);
    if (this.#read.size === READ_AHEAD) this.#readAhead(seq);
    return { request: checkpoint.request, read: () => this.#output(checkpoint) };
  }

  #readAhead(seq: number): void {
    const next = this.#after(seq, READ_CHUNK);
    if (next.length === 0) return;
    // A failed read-ahead is repeated when the code asks, where its error can be thrown.
    this.#ahead = this.#fetch(next).catch(() => undefined);
  }

  /** The next sequence numbers whose checkpoints are not kept. */
  #after(seq: number, most: number): number[] {
    return this.#seqs.filter((other) => other > seq && !this.#read.has(other)).slice(0, most);
  }

  /** Reads the checkpoints and returns the first. */
  async #fetch(seqs: readonly number[]): Promise<Checkpoint | undefined> {
    const checkpoints = await this.#store.readCheckpoints(this.#runId, seqs);
    if (this.#read.size + checkpoints.length > MAX_KEPT) this.#read.clear();
    for (const checkpoint of checkpoints) this.#read.set(checkpoint.seq, checkpoint);
    return this.#read.get(seqs[0] as number);
  }

  async #output(checkpoint: Checkpoint): Promise<Outcome> {
    const { outputHash: hash } = checkpoint;
    if (checkpoint.outcome === 'skipped') return { kind: 'done', output: NO_OUTPUT };
    const [origin] = await originsOf(this.#store, this.#runId, [checkpoint]);
    if (!origin || hash === undefined) {
      throw new Error(`run ${this.#runId}: checkpoint ${checkpoint.seq} carries no output`);
    }
    return { kind: 'done', output: { hash, text: await originText(this.#store, origin) } };
  }

  async #failure(seq: number): Promise<RecordedEnd> {
    const { error, request } = await failureAt(this.#store, this.#runId, seq);
    return { request, read: async () => ({ kind: 'failed', error }) };
  }
}

/** An operation that the code awaits. */
export interface Answerable {
  readonly name: string;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** Passes an outcome to the code; does nothing for an abandoned operation. */
export function answerWith(outcome: Outcome, { name, resolve, reject }: Answerable): void {
  if (outcome.kind === 'done') resolve(parseFrozen(outcome.output.text));
  else if (outcome.kind === 'failed')
    reject(new OperationFailed(name, outcome.error.code, outcome.error.message));
}
