import type { Difference } from './compare.ts';

const EXTENSIONS =
  'hostname|existingSystem|networkConfig|savePartitions|kernelArguments|reservedCPUs|additionalN';

/** What only `sno` refuses. The installer ignores it, or it fails later, on the host. */
const bySno: readonly (readonly [fault: RegExp, reason: string])[] = [
  [
    new RegExp(`bootstrapInPlace\\.(${EXTENSIONS})`),
    'a field of this project, which the installer ignores with a warning',
  ],
  [
    /installationDisk: expected (the path of a disk|a disk that|a complete disk)/,
    'the installer passes any text to coreos-installer, and does not look at the disk',
  ],
  [/installationDisk: expected one disk/, 'the installer of 4.19 does not read the variable'],
  [
    /: expected a known field/,
    'the installer ignores unknown fields with a warning, and with them the mistyped ones',
  ],
  [/pullSecret: expected .*, found nothing/, "Go's JSON decoder does not tell cases apart"],
  [/Unresolved tag/, 'the parser of the installer ignores tags'],
  [/apiVersion: expected v1, found "v1beta4"/, 'the installer converts earlier API versions'],
  [/networking\.machineCIDR: expected no such field/, 'the installer converts earlier names'],
  [
    /baseDomain: expected .* at most 167 characters/,
    'the names below the domain would be longer than DNS allows',
  ],
  [
    /metadata\.name: expected a DNS label/,
    'a name with a dot changes the domain of the cluster; a number is no name',
  ],
  [
    /compute(\[0\]\.replicas)?: expected (a list of one pool|a whole number)/,
    'the installer adds three workers unless it is told how many, and takes any number of them',
  ],
  [
    /serviceNetwork\[0\]: expected a network outside of 127/,
    'the host would answer for the Services itself',
  ],
  [
    /serviceNetwork\[0\]: expected a prefix length/,
    'too small for the Services of a cluster, or too large for its API server',
  ],
  [
    /hostPrefix: expected from/,
    'the controller-manager assigns no such share of the network to a node',
  ],
  [/does not overlap networking\.clusterNetwork \(fd01/, 'the installer has no defaults for IPv6'],
  [
    /sshKey: expected .* an invalid key/,
    'the installer reads the first key only, and not the type before it',
  ],
  [
    /proxy\.httpProxy: expected the http URL .* found a (URL with more|string with spaces)/,
    'the installer accepts every URL that Go can parse',
  ],
  [/mirrors: expected a list of registries, found nothing/, 'the installer ignores such a source'],
  [/source: expected a registry with a dot/, 'the installer takes it; no image has such a name'],
  [/sourcePolicy: expected/, 'the installer does not check it'],
];

/** What only the installer refuses. */
const byInstaller: readonly (readonly [fault: RegExp, reason: string])[] = [
  [
    /yaml: unmarshal errors|already set in map/,
    'its parser takes a field that overrides one of a merge key for a duplicate',
  ],
  [/heteregeneous multi-arch/, 'the empty pool of workers has the architecture of the other here'],
  [
    /hostPrefix: Invalid value: 0/,
    'OVN-Kubernetes has no default share, and needs /64 for IPv6; the networks of Kubernetes do not',
  ],
];

const all = (
  refusedBy: Difference['refusedBy'],
  reasons: readonly (readonly [RegExp, string])[],
): Difference[] => reasons.map(([fault, reason]) => ({ refusedBy, fault, reason }));

/** Every reason for which the verdicts of the two programs may differ. */
export const differences: readonly Difference[] = [
  ...all('sno', bySno),
  ...all('openshift-install', byInstaller),
];

/** Why what the installer creates of an install-config that both accept is not taken over. */
export const notTakenOver: readonly Difference[] = all('sno', [
  [
    /networking\.(clusterNetwork|serviceNetwork): expected IPv6/,
    "the installer's defaults are IPv4 networks, also beside machine networks that begin with IPv6",
  ],
]);
