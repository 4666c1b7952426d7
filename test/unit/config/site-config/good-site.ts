export interface BadSite {
  readonly name: string;
  /** Added to the good beginning, from line 4 on. */
  readonly more?: string;
  /** The whole text. */
  readonly yaml?: string;
  /** `LINE FIELD`, of every fault, in order. */
  readonly faults: readonly string[];
  /** What the message says. */
  readonly says?: RegExp;
  /** What no message may show. */
  readonly hides?: RegExp;
}

export const GOOD_SITE = `api_version: 1
cluster_name: shop
base_domain: example.com
`;
