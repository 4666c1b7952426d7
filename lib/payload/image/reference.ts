/** An image reference with registry and tag, without a digest. */
export const referencePattern =
  /^[a-z0-9][a-z0-9.-]*(:[0-9]+)?(\/[a-z0-9][a-z0-9._-]*)+:[A-Za-z0-9_][A-Za-z0-9._-]*$/;

export const isReference = (text: string): boolean =>
  text.length <= 255 && referencePattern.test(text);

/** `kube-apiserver` of `registry.k8s.io/kube-apiserver:v1.34.4`. */
export function imageNameOf(reference: string): string {
  return /([^/:]+):[^/:]*$/.exec(reference)?.[1] ?? '';
}

/** `v1.34.4` of `registry.k8s.io/kube-apiserver:v1.34.4`. */
export function tagOf(reference: string): string {
  return /:([^/:]*)$/.exec(reference)?.[1] ?? '';
}
