import { decodeDataUrl, isDataUrl } from '../../base/data-url.ts';
import type { File, IgnitionConfig } from './config.ts';
import { holdsPrivateKey } from './validate.ts';

/**
 * The config with the mode 0600 for every file that contains a private key. The machine-config server
 * appends the kubeconfig with which nodes join, and its key, with 0644 (machine-config-operator,
 * pkg/server); only root reads it.
 */
export function withClosedKeys(config: IgnitionConfig): IgnitionConfig {
  const files = config.storage?.files;
  if (files === undefined) return config;
  const closed = files.map((file) => (hasPrivateKey(file) ? { ...file, mode: 0o600 } : file));
  return { ...config, storage: { ...config.storage, files: closed } };
}

function hasPrivateKey({ contents, append = [] }: File): boolean {
  return [...(contents === undefined ? [] : [contents]), ...append].some(
    (resource) => isDataUrl(resource.source) && holdsPrivateKey(decodeDataUrl(resource)),
  );
}
