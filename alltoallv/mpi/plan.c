/* Defines the explicit API's plans: VAS_Alltoallv_init, VAS_Alltoallv_start and
 * VAS_Alltoallv_free. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../include/vas_a2av.h"
#include "call.h"
#include "plan.h"
#include "registry.h"

enum { ARRAYS = 4 };

struct vas_plan {
    struct vas_communicator *own; /* of the caller's communicator; NULL where there is none */
    struct a2av_state *state;
    struct a2av_settings settings;
    bool native; /* MPI's own function is the better choice, predicted or measured */
    struct vas_turns turns; /* tries: it is not known yet who is faster */
    MPI_Comm comm; /* for MPI's own function, where the core may do no start; or MPI_COMM_NULL */
    const void *from;
    void *to;
    unsigned char *arrays; /* counts and displacements of both sides */
    bool wide;             /* these are MPI_Count and MPI_Aint, not int */
    int ranks;             /* entries of each */
    MPI_Datatype types[2];
};

static size_t bytes_of_count(bool wide)
{
    return wide ? sizeof(MPI_Count) : sizeof(int);
}

static size_t bytes_of_displacement(bool wide)
{
    return wide ? sizeof(MPI_Aint) : sizeof(int);
}

/* Returns an array of the side that sends or of the other. An array has room for the largest of
 * the types, so that each begins where any may. */
static void *array(const struct vas_plan *plan, bool sends, bool displacements)
{
    size_t room = (size_t)plan->ranks * sizeof(MPI_Count), before = sends ? 0 : 2;
    return plan->arrays + (before + displacements) * room;
}

/* Tells whether all ranks have a plan; collective, also over an intercommunicator. Returns 0 or an
 * error of MPI. */
static int agree(MPI_Comm comm, bool ready, bool *all)
{
    int inter, mine = ready, least = 0, error = PMPI_Comm_test_inter(comm, &inter);
    /* There a reduction gives what the other group knows: the second one, of its own group too. */
    for (int left = inter ? 2 : 1; left > 0 && !error; left--) {
        error = PMPI_Allreduce(&mine, &least, 1, MPI_INT, MPI_MIN, comm);
        mine = mine && least;
    }
    *all = !error && mine;
    return error;
}

/* Lets the core do the starts of a plan. */
static void use(struct vas_plan *plan, struct vas_communicator *own)
{
    a2av_state_plan(plan->state);
    vas_registry_hold(own);
    plan->own = own;
    plan->settings = own->settings.core;
}

static int count_ranks(MPI_Comm comm, int *ranks)
{
    int inter, error = PMPI_Comm_test_inter(comm, &inter);
    if (error)
        return error;
    return inter ? PMPI_Comm_remote_size(comm, ranks) : PMPI_Comm_size(comm, ranks);
}

static void keep_arrays(struct vas_plan *plan, bool sends, const struct vas_side *side)
{
    size_t n = (size_t)plan->ranks;
    memcpy(array(plan, sends, false), side->counts, n * bytes_of_count(side->wide));
    memcpy(array(plan, sends, true), side->displacements, n * bytes_of_displacement(side->wide));
}

/* Keeps the arguments of a plan; with MPI_IN_PLACE there are no counts, displacements and type
 * of the send side. Returns 0 or an error of MPI. */
static int keep(struct vas_plan *plan, const struct vas_side *send, const struct vas_side *receive)
{
    bool in_place = send->base == MPI_IN_PLACE;
    plan->arrays = calloc(ARRAYS * (size_t)plan->ranks + 1, sizeof(MPI_Count));
    if (!plan->arrays)
        return MPI_ERR_NO_MEM;
    plan->wide = receive->wide;
    if (!in_place)
        keep_arrays(plan, true, send);
    keep_arrays(plan, false, receive);
    int error = PMPI_Type_dup(receive->types[0], &plan->types[1]);
    return error || in_place ? error : PMPI_Type_dup(send->types[0], &plan->types[0]);
}

/* Returns a side of a start; with MPI_IN_PLACE the side that sends has no meaning. */
static struct vas_side side_of(const struct vas_plan *plan, bool sends)
{
    return (struct vas_side){.base = sends ? plan->from : plan->to,
                             .counts = array(plan, sends, false),
                             .displacements = array(plan, sends, true),
                             .types = &plan->types[sends ? 0 : 1],
                             .wide = plan->wide};
}

static void drop(struct vas_plan *plan)
{
    a2av_state_free(plan->state);
    for (int i = 0; i < 2; i++)
        if (plan->types[i] != MPI_DATATYPE_NULL)
            PMPI_Type_free(&plan->types[i]);
    free(plan->arrays);
    free(plan);
}

/* Makes a plan of the arguments, on no communicator yet. Returns 0 or an error of MPI. */
static int describe(const struct vas_side *send, const struct vas_side *receive, int ranks,
                    struct vas_plan **made)
{
    struct vas_plan *plan = malloc(sizeof *plan);
    if (!plan)
        return MPI_ERR_NO_MEM;
    *plan = (struct vas_plan){.comm = MPI_COMM_NULL, .ranks = ranks, .from = send->base,
                              .to = (void *)(uintptr_t)receive->base,
                              .types = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL}};
    plan->state = a2av_state_new();
    int error = plan->state ? keep(plan, send, receive) : MPI_ERR_NO_MEM;
    if (error)
        drop(plan);
    else
        *made = plan;
    return error;
}

int vas_plan_make(struct vas_communicator *own, const struct vas_side *send,
                  const struct vas_side *receive, bool ready, bool tries, struct vas_plan **made)
{
    bool all;
    *made = NULL;
    ready = ready && describe(send, receive, own->ranks, made) == 0;
    int error = agree(own->transport.comm, ready, &all);
    if (all) {
        use(*made, own);
    } else if (ready) {
        drop(*made);
        *made = NULL;
    }
    if (*made && tries)
        vas_turns_try(&(*made)->turns);
    return error;
}

/* Chooses what does the starts of a plan, by what its ranks send; collective. Returns 0 or an error
 * of MPI. */
static int choose(struct vas_plan *plan, const struct vas_side *send,
                  const struct vas_side *receive)
{
    struct vas_chooser once = plan->own->chooser;
    struct a2av_load load;
    bool all;
    int error = vas_look(plan->own, send->base == MPI_IN_PLACE ? NULL : send, receive, true, &all,
                         &load);
    once.known = false;
    plan->native = !all || !vas_chooser_choose(&once, &load, &plan->settings);
    if (!plan->native)
        vas_turns_try(&plan->turns);
    return error;
}

static int begin(struct vas_plan *plan, struct vas_communicator *own, const struct vas_side *send,
                 const struct vas_side *receive)
{
    use(plan, own);
    return own->settings.chooses ? choose(plan, send, receive) : MPI_SUCCESS;
}

/* Leaves all starts of a plan to MPI's own function; `own`, which may be NULL, counts them. */
static int pass(struct vas_plan *plan, struct vas_communicator *own, MPI_Comm comm)
{
    if (own)
        vas_registry_hold(own);
    plan->own = own;
    /* A communicator that outlives the caller's. */
    return PMPI_Comm_split(comm, 0, 0, &plan->comm);
}

/* Makes a plan for the explicit API; collective. Returns 0 or an error, of which the
 * communicator's error handler was told. */
static int make(const struct vas_side *send, const struct vas_side *receive, MPI_Comm comm,
                VAS_Plan *made)
{
    struct vas_communicator *own = vas_registry_find(comm);
    bool all;
    int ranks;
    *made = NULL;
    int wrong = count_ranks(comm, &ranks);
    if (!wrong && !vas_sides_are_valid(send->base == MPI_IN_PLACE ? NULL : send, receive,
                                       own ? own->rank : VAS_NO_RANK, ranks))
        wrong = MPI_ERR_ARG;
    if (!wrong)
        wrong = describe(send, receive, ranks, made);
    int error = agree(comm, !wrong, &all);
    if (!error && !all)
        error = wrong ? wrong : MPI_ERR_OTHER;
    if (!error)
        error = own && !own->passes ? begin(*made, own, send, receive) : pass(*made, own, comm);
    if (!error)
        return MPI_SUCCESS;
    if (*made && (*made)->own)
        vas_registry_release(own);
    if (*made)
        drop(*made);
    *made = NULL;
    PMPI_Comm_call_errhandler(comm, error);
    return error;
}

int VAS_Alltoallv_init(const void *sendbuf, const int sendcounts[], const int sdispls[],
                       MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                       const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info,
                       VAS_Plan *made)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, false, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, false, false};
    (void)info;
    return make(&send, &receive, comm, made);
}

#if MPI_VERSION >= 4
int VAS_Alltoallv_init_c(const void *sendbuf, const MPI_Count sendcounts[],
                         const MPI_Aint sdispls[], MPI_Datatype sendtype, void *recvbuf,
                         const MPI_Count recvcounts[], const MPI_Aint rdispls[],
                         MPI_Datatype recvtype, MPI_Comm comm, MPI_Info info, VAS_Plan *made)
{
    struct vas_side send = {sendbuf, sendcounts, sdispls, &sendtype, true, false};
    struct vas_side receive = {recvbuf, recvcounts, rdispls, &recvtype, true, false};
    (void)info;
    return make(&send, &receive, comm, made);
}
#endif

int VAS_Alltoallv_start(VAS_Plan plan)
{
    struct vas_side send = side_of(plan, true), receive = side_of(plan, false);
    struct vas_communicator *own = plan->own;
    if (plan->comm != MPI_COMM_NULL) {
        if (own)
            own->totals.passed[VAS_PASSED_ALL]++;
        return vas_native(&send, &receive, plan->comm);
    }
    bool tries = plan->turns.tries, core = tries ? vas_turns_take(&plan->turns) : !plan->native;
    own->totals.passed[VAS_PASSED_CHOICE] += !core;
    int error = core ? vas_communicator_run(own, plan->state, &plan->settings,
                                            plan->from == MPI_IN_PLACE ? NULL : &send, &receive,
                                            MPI_COMM_NULL)
                     : vas_native(&send, &receive, own->transport.comm);
    int ours = tries ? vas_turns_end(&plan->turns, own->transport.comm) : 0;
    if (tries && !plan->turns.tries)
        plan->native = !plan->turns.core;
    return error ? error : ours;
}

int VAS_Alltoallv_free(VAS_Plan *freed)
{
    struct vas_plan *plan = *freed;
    int error = MPI_SUCCESS;
    if (plan->comm != MPI_COMM_NULL)
        error = PMPI_Comm_free(&plan->comm);
    if (plan->own && plan->own->broken)
        plan->state = NULL; /* messages may be on their way to its buffers */
    if (plan->own)
        vas_registry_release(plan->own);
    drop(plan);
    *freed = NULL;
    return error;
}
