/** Number of things that each tenant has under way at an instance, such as requests. A tenant without any takes no memory. */
export class TenantCounts {
  readonly #counts = new Map<string, number>();
  #all = 0;

  /** The number for all tenants together. */
  get all(): number {
    return this.#all;
  }

  /** Number of tenants that have any. */
  get tenants(): number {
    return this.#counts.size;
  }

  of(tenantId: string): number {
    return this.#counts.get(tenantId) ?? 0;
  }

  add(tenantId: string): void {
    this.#all += 1;
    this.#counts.set(tenantId, this.of(tenantId) + 1);
  }

  /** The tenant must have one. */
  remove(tenantId: string): void {
    this.#all -= 1;
    const left = this.of(tenantId) - 1;
    if (left === 0) this.#counts.delete(tenantId);
    else this.#counts.set(tenantId, left);
  }
}
