import { randomInt } from 'node:crypto';
import type { Cluster } from '../../lib/config/cluster/cluster.ts';

/** In the folder with install-config.yaml, under the name that openshift-install uses. */
export const METADATA_NAME = 'metadata.json';

/** As the installer (pkg/asset/installconfig/clusterid.go): at most 27 characters in all. */
const MOST_OF_NAME = 21;
const RANDOM_LENGTH = 5;
/** Kubernetes' alphabet of random names, without vowels and characters that look alike. */
const ALPHABET = 'bcdfghjklmnpqrstvwxz2456789';

/** What programs around the installer read about a cluster: its name and its ids. */
export function metadataText({ name, clusterId }: Pick<Cluster, 'name' | 'clusterId'>): string {
  const metadata = { clusterName: name, clusterID: clusterId, infraID: infrastructureId(name) };
  return `${JSON.stringify(metadata)}\n`;
}

/** The name of a cluster, shortened, with random characters: distinguishes clusters of one name. */
export function infrastructureId(name: string): string {
  const base = name
    .replaceAll(/[^A-Za-z0-9-]+/g, '-')
    .replaceAll(/-{2,}/g, '-')
    .slice(0, MOST_OF_NAME)
    .replace(/-+$/, '');
  const random = Array.from({ length: RANDOM_LENGTH }, () => ALPHABET[randomInt(ALPHABET.length)]);
  return `${base}-${random.join('')}`;
}
