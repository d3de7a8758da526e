/**
 * Google's Firestore emulator in place of the local one, started by firebase-tools, which downloads it on first use and needs
 * Java. Its state is in memory: after a restart, tasks and messages in `--data` have no runs.
 */
import { copyFile, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isInstalled, NOT_INSTALLED, startFirebaseTools } from './firebase-tools.ts';
import { freePorts } from './free-ports.ts';

interface OfficialFirestoreOptions {
  readonly root: string;
  readonly projectId: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface OfficialFirestore {
  /** `host:port`, as in FIRESTORE_EMULATOR_HOST. */
  readonly host: string;
  stop(): Promise<void>;
}

/** May take as long as the download. @throws Error if firebase-tools fails, with the reason on standard error */
export async function startOfficialFirestore(options: OfficialFirestoreOptions): Promise<OfficialFirestore> {
  const { root, projectId, env } = options;
  if (!isInstalled(root)) throw new Error(NOT_INSTALLED);
  const folder = await mkdtemp(join(tmpdir(), 'cairn-firestore-'));
  const remove = () => rm(folder, { recursive: true, force: true });
  try {
    const [port = 0, websocket = 0, hub = 0, logging = 0] = await freePorts(4);
    await copyFile(join(root, 'firestore.rules'), join(folder, 'firestore.rules'));
    await writeFile(join(folder, 'firebase.json'), configFor({ port, websocket, hub, logging }));
    const tools = startFirebaseTools({
      root,
      folder,
      projectId,
      only: 'firestore',
      env,
      output: process.stderr,
    });
    await tools.ready.catch((cause: unknown) => {
      throw new Error(`the official Firestore emulator could not be started: ${String(cause)}`, { cause });
    });
    return { host: `127.0.0.1:${port}`, stop: () => tools.stop().then(remove) };
  } catch (error) {
    await remove();
    throw error;
  }
}

interface EmulatorPorts {
  readonly port: number;
  readonly websocket: number;
  readonly hub: number;
  readonly logging: number;
}

function configFor({ port, websocket, hub, logging }: EmulatorPorts): string {
  const host = '127.0.0.1';
  return JSON.stringify({
    firestore: { rules: 'firestore.rules' },
    emulators: {
      firestore: { host, port, websocketPort: websocket },
      hub: { host, port: hub },
      logging: { host, port: logging },
      ui: { enabled: false },
    },
  });
}
