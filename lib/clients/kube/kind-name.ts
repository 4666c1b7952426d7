export interface KindName {
  /** `v1` or `<group>/<version>`. */
  readonly apiVersion: string;
  readonly kind: string;
}

/** The group of an apiVersion; empty for the core group. */
export function groupOf(apiVersion: string): string {
  return apiVersion.split('/').slice(0, -1).join('/');
}
