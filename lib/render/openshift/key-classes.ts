import { keyFingerprintsIn } from '../private-keys.ts';
import type { KeyClass, RenderedManifest } from '../renderer.ts';

/** Decides from what is rendered what happens to a key. */
export interface KeyClasses {
  /** Undefined if the text has no private key. */
  classOf(contents: string): KeyClass | undefined;
}

/**
 * A key in a manifest lives on in the cluster: *adopted*. A key of the kubeconfig with which the
 * machine-config server lets nodes join stays on the node: *permanent*. Any other serves only the
 * bootstrap: *gone*. A file with keys of several classes is as short-lived as the shortest.
 */
export function keyClasses(
  manifests: readonly RenderedManifest[],
  joinKubeconfig: string,
): KeyClasses {
  const adopted = new Set(manifests.flatMap(({ contents }) => keyFingerprintsIn(contents)));
  const permanent = new Set(keyFingerprintsIn(joinKubeconfig));
  const classOfKey = (key: string): KeyClass =>
    permanent.has(key) ? 'permanent' : adopted.has(key) ? 'adopted' : 'gone';
  return {
    classOf(contents) {
      const found = keyFingerprintsIn(contents).map(classOfKey);
      return (['gone', 'adopted', 'permanent'] as const).find((each) => found.includes(each));
    },
  };
}
