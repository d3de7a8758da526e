/**
 * A model of a disk behind the cache of an operating system. Synced writes survive a power cut. Later writes may be missing, or
 * torn at a sector. A new file may be missing until its folder was synced.
 */
import { dirname } from 'node:path';
import type { Operation } from './trace.ts';

type Change = Extract<Operation, { kind: 'write' | 'truncate' }>;

interface File {
  content: Buffer;
  size: number;
  /** Changes since its last sync, oldest first. */
  pending: Change[];
  isNameDurable: boolean;
}

const SECTOR = 512;

export class Disk {
  readonly #files = new Map<string, File>();

  carryOut(operation: Operation): void {
    if (operation.kind === 'print') return;
    const { file } = operation;
    if (operation.kind === 'remove') this.#files.delete(file);
    else if (operation.kind === 'sync') this.#sync(file);
    else if (operation.kind === 'create') this.#file(file);
    else this.#file(file).pending.push(operation);
  }

  /** Number of unsynced writes over all files. */
  get pending(): number {
    return [...this.#files.values()].reduce((sum, { pending }) => sum + pending.length, 0);
  }

  /**
   * The files after a power cut.
   *
   * @param survives returns true if an unsynced write reached the disk; called for each write
   */
  afterCut(survives: () => boolean): Map<string, Buffer> {
    const left = new Map<string, Buffer>();
    for (const [name, file] of this.#files) {
      if (!file.isNameDurable && !survives()) continue;
      const copy: File = { ...file, content: Buffer.from(file.content.subarray(0, file.size)) };
      for (const change of file.pending) if (survives()) apply(copy, torn(change, survives));
      left.set(name, copy.content.subarray(0, copy.size));
    }
    return left;
  }

  #sync(name: string): void {
    for (const [other, file] of this.#files) if (dirname(other) === name) file.isNameDurable = true;
    const file = this.#files.get(name);
    if (file === undefined) return;
    for (const change of file.pending) apply(file, change);
    file.pending = [];
  }

  #file(name: string): File {
    const known = this.#files.get(name);
    if (known) return known;
    const file: File = { content: Buffer.alloc(0), size: 0, pending: [], isNameDurable: false };
    this.#files.set(name, file);
    return file;
  }
}

/** Sectors are written completely; a longer write may stop between two sectors. */
function torn(change: Change, survives: () => boolean): Change {
  if (change.kind === 'truncate' || change.bytes.length <= SECTOR || survives()) return change;
  const half = Math.floor(change.bytes.length / 2 / SECTOR) * SECTOR;
  return { ...change, bytes: change.bytes.subarray(0, Math.max(half, SECTOR)) };
}

function apply(file: File, change: Change): void {
  if (change.kind === 'truncate') {
    grow(file, change.size);
    file.content.fill(0, change.size);
    file.size = change.size;
    return;
  }
  const end = change.at + change.bytes.length;
  grow(file, end);
  change.bytes.copy(file.content, change.at);
  file.size = Math.max(file.size, end);
}

function grow(file: File, size: number): void {
  if (size <= file.content.length) return;
  const larger = Buffer.alloc(Math.max(size, 2 * file.content.length));
  file.content.copy(larger);
  file.content = larger;
}
