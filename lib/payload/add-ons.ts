export type AddOn = 'kube-proxy' | 'coredns' | 'local-path-provisioner' | 'flannel';

/** The label of an add-on's pods; its value is the add-on's name. */
export const addOnLabel = 'sno-agents/add-on';

/** An image that a payload may have in addition to those of the control plane. */
interface OptionalImage {
  readonly name: AddOn;
  /** What does not work in a cluster without it. */
  readonly without: string;
  /** What its image has in addition to its program. */
  readonly contains?: string;
  /** It has no pod on a host that is the only one of its cluster. */
  readonly forWorkers?: true;
}

/** In the order in which they depend on each other. */
export const addOns: readonly OptionalImage[] = [
  {
    name: 'kube-proxy',
    without: 'addresses and node ports of Services do not work',
    contains: 'nft',
  },
  { name: 'coredns', without: 'names of Services are not resolved' },
  {
    name: 'local-path-provisioner',
    without: 'there is no StorageClass for persistent volumes',
    contains: 'sh, mkdir and rm, for its helper pods',
  },
  {
    name: 'flannel',
    without: 'pods of workers and of the control-plane host do not reach each other',
    forWorkers: true,
  },
];

/** The add-ons among the images of a payload. */
export function addOnsOf(images: readonly string[]): AddOn[] {
  return addOns.flatMap(({ name }) => (images.includes(name) ? [name] : []));
}

/** Those that run on every control-plane host, with workers or without. */
export function alwaysRunning(names: readonly AddOn[]): AddOn[] {
  return names.filter((name) =>
    addOns.some((addOn) => addOn.name === name && addOn.forWorkers === undefined),
  );
}

/** A sentence for each add-on that is not among the images of a payload. */
export function missingAddOns(images: readonly string[]): string[] {
  return addOns
    .filter(({ name }) => !images.includes(name))
    .map(({ name, without }) => `no image ${name}: ${without}, unless something else provides it`);
}
