import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Firestore } from '@google-cloud/firestore';
import { credentials, makeClientConstructor } from '@grpc/grpc-js';
import { afterAll, expect, test } from '@jest/globals';
import { startFirestoreServer } from '../../../packages/local-firestore/src/server.ts';
import { encodeBody } from '../../../packages/local-firestore/src/wire/document-codec.ts';
import { firestoreService } from '../../../packages/local-firestore/src/wire/protocol.ts';
import { connect, PROJECT } from './support/client.ts';

const KILLS = 10;
/** Acknowledged commits before each kill, so that further commits are in flight. */
const COMMITS_BEFORE_KILL = 40;
const WRITERS = 16;
const MEMBERS = 5;

const DATABASE = `projects/${PROJECT}/databases/(default)`;
const folder = mkdtempSync(join(tmpdir(), 'cairn-kill-'));
const script = join(import.meta.dirname, 'support/server-process.ts');
const started: ChildProcess[] = [];

afterAll(() => {
  for (const child of started) child.kill('SIGKILL');
  rmSync(folder, { recursive: true });
});

test(`after ${KILLS} SIGKILLs during a write storm every acknowledged commit is stored, and none partially`, async () => {
  const file = join(folder, 'firestore.sqlite');
  const acknowledged = new Map<string, number>();
  const attempted = new Map<string, number>();
  for (let round = 0; round < KILLS; round++) {
    const { child, host } = await start(file);
    const { commit, close } = rawClient(host);
    await storm({ round, acknowledged, attempted, commit, kill: () => child.kill('SIGKILL') });
    await ended(child);
    close();
  }
  const { child, host } = await start(file);
  const db = connect(host);
  const groups = await readGroups(db);
  child.kill('SIGKILL');
  await db.terminate();

  expect(acknowledged.size).toBeGreaterThanOrEqual((KILLS * COMMITS_BEFORE_KILL) / 2);
  for (const [group, members] of groups) {
    // Each member has the number of the commit that wrote it. Different numbers mean that a commit was not atomic.
    expect({ group, count: members.length, versions: new Set(members).size }).toEqual({
      group,
      count: MEMBERS,
      versions: 1,
    });
    expect(members[0]).toBeLessThanOrEqual(attempted.get(group) as number);
  }
  for (const [group, version] of acknowledged) {
    expect({ group, version: groups.get(group)?.[0] }).toEqual({ group, version: expect.any(Number) });
    expect(groups.get(group)?.[0]).toBeGreaterThanOrEqual(version);
  }
});

test('two servers never share a file', async () => {
  const file = join(folder, 'owned.sqlite');
  const { child } = await start(file);
  await expect(startFirestoreServer({ storage: { kind: 'sqlite', file } })).rejects.toThrow(
    /in use by another process/,
  );
  child.kill('SIGKILL');
  await ended(child);
  const successor = await startFirestoreServer({ storage: { kind: 'sqlite', file } });
  await successor.stop();
});

interface Storm {
  readonly round: number;
  readonly acknowledged: Map<string, number>;
  readonly attempted: Map<string, number>;
  commit(writes: readonly object[]): Promise<void>;
  kill(): void;
}

/** Writers create groups of documents and rewrite them; the server is killed in the middle of it. */
async function storm({ round, acknowledged, attempted, commit, kill }: Storm): Promise<void> {
  let commits = 0;
  const writer = async (id: number) => {
    for (let n = 0; ; n++) {
      const group = `r${round}-w${id}-${n}`;
      for (let version = 0; version < 2; version++) {
        attempted.set(group, version);
        try {
          await commit(writesOf(group, version));
        } catch {
          return;
        }
        acknowledged.set(group, version);
        if (++commits === COMMITS_BEFORE_KILL) kill();
      }
    }
  };
  await Promise.all(Array.from({ length: WRITERS }, (_, id) => writer(id)));
}

function writesOf(group: string, version: number): object[] {
  const fields = new Map([['version', { kind: 'integer', value: BigInt(version) } as const]]);
  return Array.from({ length: MEMBERS }, (_, i) => {
    const name = `${DATABASE}/documents/groups/${group}/members/${i}`;
    return { update: encodeBody(name, fields) };
  });
}

/** A client without retries, so that a commit fails at once if the server dies before acknowledging it. */
function rawClient(host: string): { commit: Storm['commit']; close(): void } {
  const Client = makeClientConstructor(firestoreService(), 'Firestore');
  const client = new Client(host, credentials.createInsecure());
  const commit = (writes: readonly object[]) =>
    new Promise<void>((resolve, reject) => {
      client.Commit?.({ database: DATABASE, writes }, (error: Error | null) =>
        error ? reject(error) : resolve(),
      );
    });
  return { commit, close: () => client.close() };
}

async function readGroups(db: Firestore): Promise<Map<string, number[]>> {
  const groups = new Map<string, number[]>();
  for (const doc of (await db.collectionGroup('members').get()).docs) {
    const group = doc.ref.parent.parent?.id as string;
    groups.set(group, [...(groups.get(group) ?? []), doc.get('version')]);
  }
  return groups;
}

function start(file: string): Promise<{ child: ChildProcess; host: string }> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', script, file, '0'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  started.push(child);
  return new Promise((resolve, reject) => {
    child.stdout?.once('data', (text) => resolve({ child, host: String(text).trim() }));
    child.once('exit', (code) => reject(new Error(`The server ended with ${code} before it served.`)));
  });
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}
