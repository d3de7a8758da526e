/** Interface of a cleanup target. The installer of the workflow provides one; nothing here calls anything. */
import type { OutsideCall } from '../outside-call.ts';
import type { CleanupItem } from './request.ts';

/** Each may be called again with the same key: a crash between an act and its record repeats it. */
export interface Janitor {
  /** Items, for a cleanup started without a list. */
  list(call: OutsideCall): Promise<readonly CleanupItem[]>;
  /** Does nothing if it is already removed. */
  remove(item: CleanupItem, call: OutsideCall): Promise<void>;
  exists(item: CleanupItem, call: OutsideCall): Promise<boolean>;
}
