/** Interface of a cleanup target. Whoever installs the workflow provides it; nothing here calls anything. */
import type { OutsideCall } from '../outside-call.ts';
import type { CleanupItem } from './request.ts';

/** Every method may be called again with the same key: a crash between an action and its record repeats it. */
export interface Janitor {
  /** Lists the items, for a cleanup started without a list. */
  list(call: OutsideCall): Promise<readonly CleanupItem[]>;
  /** Does nothing if the item is already removed. */
  remove(item: CleanupItem, call: OutsideCall): Promise<void>;
  exists(item: CleanupItem, call: OutsideCall): Promise<boolean>;
}
