// Skip-gram with negative sampling on the GPU: the twin of word2vec.py, with the same formulas and random numbers.
//
// Compiled at run time, with WIDTH (numbers of a padded row, a multiple of 128) and NEGATIVES.
// A warp trains one window at a time. Each lane holds four neighboring numbers of every 128 of a row, so that a warp
// reads a row in one piece. Scores are computed for 4 words around against 8 targets: 32 sums, of which a lane gets one.

typedef unsigned int u32;
typedef unsigned long long u64;

constexpr u32 ALL = 0xFFFFFFFF;  // lanes
constexpr int LANES = 32;
constexpr int PARTS = WIDTH / 128;  // float4 that a lane holds of a row
constexpr int ROWS = 4;
constexpr int TARGETS = 8;
constexpr int RUN = 16;  // windows that a warp trains one after the other, so that neighbors see each other's steps
constexpr int USED = NEGATIVES + 1 < TARGETS ? NEGATIVES + 1 : TARGETS;  // targets that a step has at most

struct Row {
    float4 part[PARTS];
};

// Random numbers, as in random.py.

constexpr u64 STEP = 0x9E3779B97F4A7C15;

__device__ u64 mix(u64 state) {
    state = (state ^ (state >> 30)) * 0xBF58476D1CE4E5B9;
    state = (state ^ (state >> 27)) * 0x94D049BB133111EB;
    return state ^ (state >> 31);
}

__device__ u32 below(u64 bits, u32 size) { return __umulhi(u32(bits >> 32), size); }

__device__ bool happens(u64 bits, u32 threshold) { return u32(bits) <= threshold; }

__device__ u32 draw(u64 bits, const uint2* noise, u32 size) {
    const u32 place = below(bits, size);
    const uint2 entry = __ldg(noise + place);
    return u32(bits) > entry.x ? entry.y : place;
}

// Which words are trained. A word has random bits by its place in the block: the lower half says whether it stays, the
// upper half how far its window reaches.

__device__ bool stays(const u32* ids, int at, int count, const u32* keep, u32 known, u64 bits) {
    return at < count && ids[at] < known && happens(bits, keep[ids[at]]);
}

extern "C" __global__ void count_kept(
    const u32* ids, int count, const u32* keep, u32 known, u64 state, int* kept)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int total = __syncthreads_count(stays(ids, at, count, keep, known, mix(state + (at + 1) * STEP)));
    if (threadIdx.x == 0) kept[blockIdx.x] = total;
}

// Writes the words that stay one after the other; `before` gets the reach of their windows. laid = how many there are.
extern "C" __global__ void place_kept(
    const u32* ids, const int* sentence_of, int count, const u32* keep, u32 known, u64 state, u32 window, int dynamic,
    const int* kept, u32* words, int* sentences, int* before, int* laid)
{
    const int at = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % LANES, warp = threadIdx.x / LANES;
    const u64 bits = mix(state + (at + 1) * STEP);
    const bool staying = stays(ids, at, count, keep, known, bits);
    const u32 those = __ballot_sync(ALL, staying);

    __shared__ int base, of_warp[LANES];
    if (threadIdx.x == 0) base = 0;
    if (lane == 0) of_warp[warp] = __popc(those);
    __syncthreads();
    int earlier = 0;
    for (int tile = threadIdx.x; tile < blockIdx.x; tile += blockDim.x) earlier += kept[tile];
    if (earlier) atomicAdd(&base, earlier);
    __syncthreads();
    int place = base + __popc(those & ((1u << lane) - 1));
    for (int i = 0; i < warp; i++) place += of_warp[i];
    if (staying) {
        words[place] = ids[at];
        sentences[place] = sentence_of[at];
        before[place] = dynamic ? 1 + below(bits, window) : window;
    }
    if (at == count - 1) *laid = place + staying;
}

// Cuts windows at the edges of sentences: `before` and `after` are how many words of each side belong to a word.
extern "C" __global__ void cut_windows(const int* sentences, const int* laid, int* before, int* after) {
    const int at = blockIdx.x * blockDim.x + threadIdx.x, count = *laid;
    if (at >= count) return;
    const int reach = before[at], sentence = sentences[at];
    int left = 0, right = 0;
    while (left < reach && at - left > 0 && sentences[at - left - 1] == sentence) left++;
    while (right < reach && at + right + 1 < count && sentences[at + right + 1] == sentence) right++;
    before[at] = left;
    after[at] = right;
}

// Rows.

__device__ Row zeros() {
    Row row;
    for (int p = 0; p < PARTS; p++) row.part[p] = make_float4(0, 0, 0, 0);
    return row;
}

__device__ float4* place_of(float* matrix, u32 row, int part) {
    return reinterpret_cast<float4*>(matrix + u64(row) * WIDTH) + part * LANES + threadIdx.x % LANES;
}

// Reads past the first cache, which other processors' updates never reach.
__device__ Row load(float* matrix, u32 row) {
    Row found;
    for (int p = 0; p < PARTS; p++) found.part[p] = __ldcg(place_of(matrix, row, p));
    return found;
}

// Adds to a row in memory; no update of another warp is lost.
__device__ void add_to_row(float* matrix, u32 row, const Row& step) {
    for (int p = 0; p < PARTS; p++) {
        const float4 v = step.part[p];
        float4* address = place_of(matrix, row, p);
#if __CUDA_ARCH__ >= 900
        asm volatile("red.global.add.v4.f32 [%0], {%1, %2, %3, %4};"
                     :: "l"(address), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
#else
        atomicAdd(&address->x, v.x);
        atomicAdd(&address->y, v.y);
        atomicAdd(&address->z, v.z);
        atomicAdd(&address->w, v.w);
#endif
    }
}

__device__ float dot(const Row& a, const Row& b) {
    float sum = 0;
    for (int p = 0; p < PARTS; p++) {
        sum = fmaf(a.part[p].x, b.part[p].x, sum);
        sum = fmaf(a.part[p].y, b.part[p].y, sum);
        sum = fmaf(a.part[p].z, b.part[p].z, sum);
        sum = fmaf(a.part[p].w, b.part[p].w, sum);
    }
    return sum;
}

__device__ void add(Row& sum, float g, const Row& row) {
    for (int p = 0; p < PARTS; p++) {
        sum.part[p].x = fmaf(g, row.part[p].x, sum.part[p].x);
        sum.part[p].y = fmaf(g, row.part[p].y, sum.part[p].y);
        sum.part[p].z = fmaf(g, row.part[p].z, sum.part[p].z);
        sum.part[p].w = fmaf(g, row.part[p].w, sum.part[p].w);
    }
}

// Adds 32 numbers over all lanes; lane i gets the sum of the numbers i. Halves are exchanged: 31 steps instead of 160.
template <int HALF> __device__ float total_of_lane(float (&values)[LANES]) {
    const bool upper = threadIdx.x & HALF;
#pragma unroll
    for (int i = 0; i < HALF; i++) {
        if (HALF >= TARGETS && i % TARGETS >= USED) continue;  // always 0
        const float mine = upper ? values[i + HALF] : values[i];
        const float other = upper ? values[i] : values[i + HALF];
        values[i] = mine + __shfl_xor_sync(ALL, other, HALF);
    }
    if constexpr (HALF > 1) return total_of_lane<HALF / 2>(values);
    return values[0];
}

// The gradient rate · t · σ(-t·s) of a score s with the sign t; adds its loss -log σ(t·s).
__device__ float pull(float score, float sign, float rate, double& loss) {
    const float z = score * sign, size = fabsf(z), u = __expf(-size);
    if (sign != 0) loss += 0.5f * (size - z) + log1pf(u);
    return (z >= 0 ? u : 1.0f) / (1.0f + u) * sign * rate;
}

// Trains the center c of a window against the `around` words around it, of which `left` are before it. The negatives
// have the random numbers first_draw + 1 and on.
__device__ void train_window(
    const u32* words, int c, int left, int around, float* inputs, float* outputs, const uint2* noise, u32 known,
    u64 first_draw, u64 state, float rate, double& loss)
{
    const int lane = threadIdx.x % LANES;
    const u32 center = words[c];
#pragma unroll
    for (int at = 0; at <= NEGATIVES; at += TARGETS) {
        // This lane's target, and the sign of its pairs: 0 for no target, and for the center drawn as a negative.
        const int k = at + lane % TARGETS;
        const u32 target = k == 0 ? center : draw(mix(state + (first_draw + k) * STEP), noise, known);
        const float sign = k == 0 ? 1.0f : k > NEGATIVES || target == center ? 0.0f : -1.0f;
        u32 target_of[USED];
        Row y[USED], y_steps[USED];
#pragma unroll
        for (int t = 0; t < USED && at + t <= NEGATIVES; t++) {
            target_of[t] = __shfl_sync(ALL, target, t);
            y[t] = load(outputs, target_of[t]);
            y_steps[t] = zeros();
        }
        for (int i = 0; i < around; i += ROWS) {
            u32 word_of[ROWS];
            Row x[ROWS];
            float values[LANES] = {};
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                const int place = c - left + i + r;
                word_of[r] = i + r < around ? words[place + (place >= c)] : 0;
                x[r] = i + r < around ? load(inputs, word_of[r]) : zeros();
            }
#pragma unroll
            for (int r = 0; r < ROWS; r++)
#pragma unroll
                for (int t = 0; t < USED && at + t <= NEGATIVES; t++) values[r * TARGETS + t] = dot(x[r], y[t]);
            const float score = total_of_lane<LANES / 2>(values);
            const float g = pull(score, i + lane / TARGETS < around ? sign : 0.0f, rate, loss);
#pragma unroll
            for (int r = 0; r < ROWS; r++) {
                Row x_step = zeros();
#pragma unroll
                for (int t = 0; t < USED && at + t <= NEGATIVES; t++) {
                    const float pair = __shfl_sync(ALL, g, r * TARGETS + t);
                    add(x_step, pair, y[t]);
                    add(y_steps[t], pair, x[r]);
                }
                if (i + r < around) add_to_row(inputs, word_of[r], x_step);
            }
        }
#pragma unroll
        for (int t = 0; t < USED && at + t <= NEGATIVES; t++) add_to_row(outputs, target_of[t], y_steps[t]);
    }
}

// Every warp trains runs of windows, and all warps together go through the text from its start to its end, as a person
// reads. `share` windows in a row have the same negatives. Adds (loss, pairs) to `tally`.
extern "C" __global__ void skip_gram(
    const u32* words, const int* before, const int* after, const int* laid, float* inputs, float* outputs,
    const uint2* noise, u32 known, int share, float rate, float last_rate, u64 state, double* tally)
{
    const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, warps = gridDim.x * blockDim.x / LANES;
    const int count = *laid;
    double loss = 0;
    int pairs = 0;
    for (int start = warp * RUN; start < count; start += warps * RUN) {
        for (int c = start; c < min(start + RUN, count); c++) {
            const int left = before[c], around = left + after[c];
            const float now = rate + (last_rate - rate) * c / count;
            const u64 first_draw = u64(c / share) * NEGATIVES;
            train_window(words, c, left, around, inputs, outputs, noise, known, first_draw, state, now, loss);
            pairs += around;
        }
    }
    for (int half = LANES / 2; half > 0; half /= 2) loss += __shfl_xor_sync(ALL, loss, half);
    if (threadIdx.x % LANES == 0 && pairs > 0) {
        atomicAdd(tally, loss);
        atomicAdd(tally + 1, double(pairs));
    }
}
