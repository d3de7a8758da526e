/** A map of limited size that drops its oldest entry, so that invented keys cannot fill memory. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #most: number;

  /** @param most entries */
  constructor(most: number) {
    super();
    this.#most = most;
  }

  /** The entry counts as the newest. */
  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#most) this.delete(this.keys().next().value as K);
    return this;
  }
}
