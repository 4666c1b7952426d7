/** An object of the API, whole or in part. */
export type TopologyObject = Readonly<{
  apiVersion: string;
  kind: string;
  metadata: Readonly<{ name: string; namespace?: string }>;
}> &
  Readonly<Record<string, unknown>>;
