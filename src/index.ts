/** The public names of revconvert. */
export type { EngineName } from './engines/engine.js';
export { listAvailableEngines } from './engines/registry.js';
export type { ErrorCode, ErrorData, ErrorKind, ErrorPlace } from './errors.js';
export { describeError, RevconvertError } from './errors.js';
export type { Revision, RevisionBatch, RevlogKind } from './formats/record.js';
export { FULL_TEXT, NULL_BASE } from './formats/record.js';
export { convertRepository, planRepository } from './repository/convert.js';
export type { ConvertOptions, Progress } from './repository/options.js';
export type { ConversionPlan } from './repository/plan.js';
export type { ConversionSummary } from './repository/summary.js';
export { writeRevlog } from './sinks/write-revlog.js';
export type { RevlogFiles, RevlogReader } from './streams/read-revlog.js';
export { openRevlog, readRevlog } from './streams/read-revlog.js';
export type { Stage } from './streams/stage.js';
export { fuseStages, joinStages, toTransform } from './streams/stage.js';
export { checkChunks } from './transforms/check-chunks.js';
export { decompress } from './transforms/decompress.js';
export { recompress } from './transforms/recompress.js';
