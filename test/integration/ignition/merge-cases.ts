export interface Case {
  name: string;
  parent: Record<string, unknown>;
  child: Record<string, unknown>;
  merged: Record<string, unknown>;
}

/** Not run against Ignition itself, which would fetch them, or read them from a later spec. */
export const laterCases: readonly Case[] = [
  {
    name: 'a header without a value takes that of the parent away',
    parent: {
      storage: {
        files: [
          {
            path: '/f',
            contents: {
              source: 'https://x/y',
              httpHeaders: [
                { name: 'A', value: '1' },
                { name: 'B', value: '2' },
              ],
            },
          },
        ],
      },
    },
    child: {
      storage: { files: [{ path: '/f', contents: { httpHeaders: [{ name: 'A' }] } }] },
    },
    merged: {
      storage: {
        files: [
          {
            path: '/f',
            contents: { source: 'https://x/y', httpHeaders: [{ name: 'B', value: '2' }] },
          },
        ],
      },
    },
  },
  {
    name: 'a kernel argument that the child does not want',
    parent: { kernelArguments: { shouldExist: ['a', 'b'], shouldNotExist: ['c'] } },
    child: { kernelArguments: { shouldExist: ['c'], shouldNotExist: ['a'] } },
    merged: { kernelArguments: { shouldExist: ['b', 'c'], shouldNotExist: ['a'] } },
  },
  {
    name: 'partitions without a number go by their label',
    parent: {
      storage: { disks: [{ device: '/d', partitions: [{ number: 0, label: 'a', sizeMiB: 1 }] }] },
    },
    child: {
      storage: {
        disks: [
          {
            device: '/d',
            partitions: [
              { number: 0, label: 'b' },
              { label: 'a', sizeMiB: 2 },
            ],
          },
        ],
      },
    },
    merged: {
      storage: {
        disks: [
          {
            device: '/d',
            partitions: [
              { number: 0, label: 'a', sizeMiB: 2 },
              { number: 0, label: 'b' },
            ],
          },
        ],
      },
    },
  },
  {
    name: 'authorities go by their source, clevis servers by their address',
    parent: {
      ignition: { security: { tls: { certificateAuthorities: [{ source: 'data:,a' }] } } },
      storage: { luks: [{ name: 'l', clevis: { tang: [{ url: 'u', thumbprint: '1' }] } }] },
    },
    child: {
      ignition: {
        security: {
          tls: {
            certificateAuthorities: [{ source: 'data:,a', compression: '' }, { source: 'data:,b' }],
          },
        },
      },
      storage: {
        luks: [{ name: 'l', clevis: { tang: [{ url: 'u', thumbprint: '2' }, { url: 'v' }] } }],
      },
    },
    merged: {
      ignition: {
        security: {
          tls: {
            certificateAuthorities: [{ source: 'data:,a', compression: '' }, { source: 'data:,b' }],
          },
        },
      },
      storage: {
        luks: [{ name: 'l', clevis: { tang: [{ url: 'u', thumbprint: '2' }, { url: 'v' }] } }],
      },
    },
  },
];
