/** A store over the collections of one installation. */
import type { Firestore } from '@google-cloud/firestore';
import { Paths } from './paths.ts';

export abstract class FirestoreStore {
  protected readonly paths: Paths;

  /** @param prefix of the collections */
  constructor(db: Firestore, prefix?: string) {
    this.paths = new Paths(db, prefix);
  }
}
