/**
 * Setup of an installation, as far as the responding instance knows it.
 *
 * Must not: reveal a secret, a part of one, or its length.
 */

export interface SeenSecret {
  readonly name: string;
  /** The deployed functions to which it is bound. */
  readonly functions: readonly string[];
  /** `none`: intentionally absent. `elsewhere`: not bound to the responding function, so unknown here. */
  readonly state: 'set' | 'empty' | 'none' | 'elsewhere';
}

/** A parameter with an invalid value. */
export interface WrongParameter {
  readonly name: string;
  readonly why: string;
}

export interface SetupProbe {
  readonly project: string;
  /** True if run events are published. */
  readonly publishes: boolean;
  secrets(): readonly SeenSecret[];
  wrongParameters(): readonly WrongParameter[];
}
