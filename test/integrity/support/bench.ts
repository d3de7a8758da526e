/** A run's documents on the bench: checked and repaired by the operations, with everything else of its installation. */
import { checkRun } from '../../../packages/cairn/src/core/integrity/check-run.ts';
import type { ConsistencyProblem, ProblemCode } from '../../../packages/cairn/src/core/integrity/problems.ts';
import { readDocuments } from '../../../packages/cairn/src/operations/integrity/read-documents.ts';
import {
  type RepairDeps,
  type RepairReport,
  repairRun,
} from '../../../packages/cairn/src/operations/integrity/repair.ts';
import type { World } from '../../support/world.ts';
import { Shelf } from './shelf.ts';

export const TENANT = 't1';

export class Bench {
  readonly world: World;
  readonly shelf: Shelf;

  constructor(world: World, runId: string, shelf = Shelf.of(world.db, runId)) {
    this.world = world;
    this.shelf = shelf;
  }

  get runId(): string {
    return this.shelf.runId;
  }

  /** The same run with documents of its own. */
  copy(): Bench {
    return new Bench(this.world, this.runId, this.shelf.copy());
  }

  get deps(): RepairDeps {
    const { deps, store } = this.world;
    return { ...deps, reader: this.shelf, repairs: this.shelf, payloads: store };
  }

  async check(): Promise<ConsistencyProblem[]> {
    const read = await readDocuments(this.deps, this.runId, () => true);
    return read ? checkRun(read.run) : [];
  }

  async codes(): Promise<ProblemCode[]> {
    return [...new Set((await this.check()).map(({ code }) => code))];
  }

  repair(apply = true): Promise<RepairReport> {
    return repairRun(this.deps, { runId: this.runId, tenantId: TENANT, actor: 'c.operator', apply });
  }
}
