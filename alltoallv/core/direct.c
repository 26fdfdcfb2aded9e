/* Linear and pairwise: every block in a message of its own, straight to its destination. */
#include "call.h"
#include "schedule.h"

static void count_payload(struct a2av_call *call, int to)
{
    call->counts->payload_bytes += call->job->send_bytes[to];
}

int a2av_run_linear(struct a2av_call *call)
{
    const struct a2av_job *job = call->job;
    int error = 0;
    for (int by = 1; by < call->ranks && !error; by++) {
        int from = a2av_rank_before(call->rank, by, call->ranks);
        error = a2av_start_receive(call, job->receive[from], job->receive_bytes[from], from,
                                   A2AV_TAG_DIRECT);
    }
    for (int by = 1; by < call->ranks && !error; by++) {
        int to = a2av_rank_after(call->rank, by, call->ranks);
        count_payload(call, to);
        error = a2av_start_send(call, job->send[to], job->send_bytes[to], to, A2AV_TAG_DIRECT);
    }
    if (!error)
        error = a2av_copy_own(call);
    a2av_note_scratch(call, call->flight.room * sizeof *call->flight.tickets);
    return error ? error : a2av_land(call);
}

int a2av_run_pairwise(struct a2av_call *call)
{
    const struct a2av_job *job = call->job;
    int error = a2av_copy_own(call);
    for (int by = 1; by < call->ranks && !error; by++) {
        int to = a2av_rank_after(call->rank, by, call->ranks);
        int from = a2av_rank_before(call->rank, by, call->ranks);
        count_payload(call, to);
        error = a2av_exchange(call, job->send[to], job->send_bytes[to], to, job->receive[from],
                              job->receive_bytes[from], from, A2AV_TAG_DIRECT);
    }
    return error;
}
