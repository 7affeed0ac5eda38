/** Versions of changegroups; what each is made of: changegroup.ts. */
export const CHANGEGROUP_VERSIONS = ['01', '02', '03', '04', '05'] as const;
export type ChangegroupVersion = (typeof CHANGEGROUP_VERSIONS)[number];

/** Those that this program writes. */
export const WRITTEN_VERSIONS = ['01', '02', '03'] as const;
export type WrittenVersion = (typeof WRITTEN_VERSIONS)[number];
