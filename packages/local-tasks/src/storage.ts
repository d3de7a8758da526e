/**
 * State of the Cloud Tasks server in SQLite: queues, tasks, and the names of ended tasks. Owns the tables and the time of
 * each write; decides nothing. A new task is on disk before `insertTask` returns, so an acknowledged task survives SIGKILL.
 * Starts and results of attempts are written in groups a moment later, because at-least-once allows a lost result to repeat a dispatch. An
 * attempt in flight when the server is killed is counted, unless it had just started, so that a handler can recognize the repetition.
 */
import type { PolicyStore } from '@cairn/local-kit/iam/policies';
import { POLICY_SCHEMA, POLICY_SQL, policyTable } from '@cairn/local-kit/iam/policy-table';
import { GroupedDatabase, type StorageChoice } from '@cairn/local-kit/sqlite/grouped-database';
import { progressAfter } from './dispatch/attempt.ts';
import type { AttemptStart, QueueConfig, TaskProgress, TaskRecord, TaskTarget } from './model.ts';

/** Defaults of a task stored by an earlier version. */
const PROGRESS_OF_OLD_DATA = { executionCount: 0 };

/** The part of a task in the schedule index. */
interface TaskHead {
  readonly id: number;
  readonly name: string;
  readonly queue: string;
  readonly dueAt: number;
}

interface TaskRow {
  readonly id: number;
  readonly name: string;
  readonly queue: string;
  readonly named: number;
  readonly due: number;
  readonly created: number;
  readonly deadline: number;
  readonly target: string;
  readonly body: Uint8Array;
  readonly progress: string;
}

/** Has no index by queue, because lists are rare and every run inserts tasks. */
const SCHEMA = `
  CREATE TABLE IF NOT EXISTS queues (name TEXT PRIMARY KEY, config TEXT NOT NULL) STRICT;
  ${POLICY_SCHEMA}
  CREATE TABLE IF NOT EXISTS tasks (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, queue TEXT NOT NULL, named INTEGER NOT NULL,
    due REAL NOT NULL, created REAL NOT NULL, deadline REAL NOT NULL, target TEXT NOT NULL, body BLOB NOT NULL,
    progress TEXT NOT NULL) STRICT;
  CREATE TABLE IF NOT EXISTS tombstones (name TEXT PRIMARY KEY, until REAL NOT NULL) STRICT;
  CREATE INDEX IF NOT EXISTS tombstones_until ON tombstones (until);`;

/** Progress in the table. `running`: an attempt that has started since. */
interface StoredProgress extends TaskProgress {
  readonly running?: AttemptStart;
}

type LaterWrite =
  | { readonly kind: 'progress'; readonly id: number; readonly progress: StoredProgress }
  | { readonly kind: 'forget'; readonly before: number }
  | { readonly kind: 'finish'; readonly name: string; readonly tombstoneUntil: number | undefined }
  | {
      readonly kind: 'retry';
      readonly name: string;
      readonly dueAt: number;
      readonly progress: TaskProgress;
    };

export class TaskStore {
  readonly policies: PolicyStore;
  readonly #db: GroupedDatabase<typeof SQL, LaterWrite>;
  readonly #isInMemory: boolean;

  constructor(storage: StorageChoice) {
    this.#db = new GroupedDatabase({
      storage,
      schema: SCHEMA,
      sql: SQL,
      apply: (write: LaterWrite) => this.#apply(write),
    });
    this.policies = policyTable(this.#db.statements);
    this.#isInMemory = storage.kind === 'memory';
    this.#countInterrupted();
  }

  queues(): QueueConfig[] {
    return this.#db.statements.allQueues.all().map((row) => JSON.parse(String(row.config)) as QueueConfig);
  }

  putQueue(queue: QueueConfig): void {
    this.#db.statements.putQueue.run(queue.name, JSON.stringify(queue));
  }

  /** Removes the queue's tasks. Names that callers chose stay taken until `tombstonesUntil`. */
  purgeQueue(name: string, tombstonesUntil: number): void {
    this.#db.flush();
    this.#db.transaction(() => {
      this.#db.statements.buryTasksOf.run(tombstonesUntil, name);
      this.#db.statements.deleteTasksOf.run(name);
    });
  }

  /** Removes the queue and its tasks. */
  deleteQueue(name: string): void {
    this.#db.flush();
    this.#db.transaction(() => {
      this.#db.statements.deleteTasksOf.run(name);
      this.#db.statements.deleteQueue.run(name);
      this.#db.statements.deletePolicy.run(name);
    });
  }

  /** All tasks, oldest first, to rebuild the index at the start. */
  heads(): TaskHead[] {
    return this.#db.statements.heads.all() as unknown as TaskHead[];
  }

  /** Returns an id larger than that of every existing task: the order of creation. */
  insertTask(task: TaskRecord): number {
    const { body, ...target } = task.target;
    const { lastInsertRowid } = this.#db.statements.insertTask.run(
      task.name,
      task.queue,
      task.named ? 1 : 0,
      task.scheduledAt,
      task.createdAt,
      task.deadlineMs,
      JSON.stringify(target),
      body,
      JSON.stringify(task.progress),
    );
    return Number(lastInsertRowid);
  }

  task(name: string): TaskRecord | undefined {
    this.#db.catchUp();
    const row = this.#db.statements.task.get(name) as TaskRow | undefined;
    return row && fromRow(row);
  }

  /** Names and times of creation of the tasks created before `time`. */
  tasksBefore(time: number): { readonly name: string; readonly created: number }[] {
    return this.#db.statements.tasksBefore
      .all(time)
      .map((row) => ({ name: String(row.name), created: Number(row.created) }));
  }

  /** A page of a queue in order of creation, after the task with id `after`. */
  page(queue: string, after: number, limit: number): { readonly id: number; readonly task: TaskRecord }[] {
    this.#db.catchUp();
    const rows = this.#db.statements.page.all(queue, after, limit) as unknown as TaskRow[];
    return rows.map((row) => ({ id: row.id, task: fromRow(row) }));
  }

  /** End of the name's tombstone; undefined: there is none. */
  tombstone(name: string): number | undefined {
    this.#db.catchUp();
    const row = this.#db.statements.tombstone.get(name);
    return row === undefined ? undefined : Number(row.until);
  }

  /** Written soon. */
  forgetTombstonesBefore(now: number): void {
    this.#db.later({ kind: 'forget', before: now });
  }

  /** The task ended or was deleted; written soon, see the head of this file. */
  finishLater(name: string, tombstoneUntil: number | undefined): void {
    this.#db.later({ kind: 'finish', name, tombstoneUntil });
  }

  /** An attempt of the task starts; written soon. */
  startLater(id: number, progress: TaskProgress, running: AttemptStart): void {
    if (!this.#isInMemory)
      this.#db.laterIfCheap({ kind: 'progress', id, progress: { ...progress, running } });
  }

  /** The task is due again; written soon. */
  retryLater(name: string, dueAt: number, progress: TaskProgress): void {
    this.#db.later({ kind: 'retry', name, dueAt, progress });
  }

  close(): void {
    this.#db.close();
  }

  /** Counts attempts that a killed server left without an answer, unless the disk is full. */
  #countInterrupted(): void {
    for (const { id, progress } of this.#db.statements.interrupted.all()) {
      const { running, ...before } = JSON.parse(String(progress)) as StoredProgress;
      if (running === undefined) continue;
      const outcome = { kind: 'unreachable', reason: 'the server was stopped' } as const;
      const after = progressAfter(before, outcome, { ...running, respondedAt: running.dispatchedAt });
      this.#db.later({ kind: 'progress', id: Number(id), progress: after });
    }
    this.#db.catchUp();
  }

  #apply(write: LaterWrite): void {
    if (write.kind === 'forget') {
      this.#db.statements.forgetTombstones.run(write.before);
      return;
    }
    if (write.kind === 'progress') {
      this.#db.statements.setProgress.run(JSON.stringify(write.progress), write.id);
      return;
    }
    if (write.kind === 'retry') {
      this.#db.statements.retry.run(write.dueAt, JSON.stringify(write.progress), write.name);
      return;
    }
    this.#db.statements.deleteTask.run(write.name);
    if (write.tombstoneUntil !== undefined) this.#db.statements.bury.run(write.name, write.tombstoneUntil);
  }
}

const SQL = {
  allQueues: 'SELECT config FROM queues ORDER BY name',
  putQueue: 'INSERT INTO queues VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET config = excluded.config',
  deleteQueue: 'DELETE FROM queues WHERE name = ?',
  ...POLICY_SQL,
  deleteTasksOf: 'DELETE FROM tasks WHERE queue = ?',
  heads: 'SELECT id, name, queue, due AS dueAt FROM tasks ORDER BY id',
  tasksBefore: 'SELECT name, created FROM tasks WHERE created <= ?',
  insertTask:
    'INSERT INTO tasks (name, queue, named, due, created, deadline, target, body, progress) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)',
  task: 'SELECT * FROM tasks WHERE name = ?',
  page: 'SELECT * FROM tasks WHERE queue = ? AND id > ? ORDER BY id LIMIT ?',
  interrupted: "SELECT id, progress FROM tasks WHERE json_extract(progress, '$.running') IS NOT NULL",
  setProgress: 'UPDATE tasks SET progress = ? WHERE id = ?',
  retry: 'UPDATE tasks SET due = ?, progress = ? WHERE name = ?',
  deleteTask: 'DELETE FROM tasks WHERE name = ?',
  tombstone: 'SELECT until FROM tombstones WHERE name = ?',
  bury: 'INSERT INTO tombstones VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET until = excluded.until',
  buryTasksOf:
    'INSERT INTO tombstones SELECT name, ? FROM tasks WHERE queue = ? AND named = 1 ON CONFLICT (name) DO UPDATE SET until = excluded.until',
  forgetTombstones: 'DELETE FROM tombstones WHERE until <= ?',
} as const;

function fromRow(row: TaskRow): TaskRecord {
  const target = JSON.parse(row.target) as Omit<TaskTarget, 'body'>;
  const { running: _, ...progress } = JSON.parse(row.progress) as StoredProgress;
  return {
    name: row.name,
    queue: row.queue,
    named: row.named === 1,
    createdAt: row.created,
    scheduledAt: row.due,
    deadlineMs: row.deadline,
    target: { ...target, body: row.body },
    progress: { ...PROGRESS_OF_OLD_DATA, ...progress },
  };
}
