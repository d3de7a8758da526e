/** Tokens of people who signed in, as the identity provider of the installation vouches for them. */

export interface VerifiedToken {
  /** Who signed in; the provider never gives it to another. */
  readonly uid: string;
  readonly claims: { readonly [name: string]: unknown };
}

export interface TokenVerifier {
  /**
   * What a token says, if it was signed by the provider for this installation and has not expired; otherwise undefined.
   *
   * @throws CairnError UNAVAILABLE if it cannot be found out at the moment
   */
  verify(token: string): Promise<VerifiedToken | undefined>;
}
