/** Stores over the collections of one installation. */
import type { Firestore } from '@google-cloud/firestore';
import { Shards } from './lists/shards.ts';
import { Paths } from './paths.ts';

export abstract class FirestoreStore {
  protected readonly db: Firestore;
  protected readonly paths: Paths;

  /** @param prefix of the collections */
  constructor(db: Firestore, prefix?: string) {
    this.db = db;
    this.paths = new Paths(db, prefix);
  }
}

/** A store with queries over all shards. */
export abstract class ShardedStore extends FirestoreStore {
  protected readonly shards: Shards;

  constructor(db: Firestore, prefix?: string, shards?: Shards) {
    super(db, prefix);
    this.shards = shards ?? new Shards(this.paths);
  }
}
